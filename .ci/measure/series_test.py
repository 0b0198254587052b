"""Tests of series.py: python3 -m unittest discover -s .ci/measure -p '*_test.py'."""
import gzip, json, os, subprocess, sys, tempfile, unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import series

HOUR = 3600 * 1000


def entry(hours, commit, name, value, tool="customSmallerIsBetter"):
    return {"date": hours * HOUR, "tool": tool, "commit": {"id": commit}, "benches": [{"name": name, "value": value}]}


def store(*entries):
    return "window.BENCHMARK_DATA = " + json.dumps({"entries": {"suite": list(entries)}}) + ";\n"


def full(metric, python="3.10.12 (main)", vllm="0.3.0"):
    return json.dumps({"name": metric, "description": "Dense\nmodel - m", "gpu_description": "A10G x 1",
                       "vllm_version": vllm, "python_version": python, "torch_version": "2.3.0"})


class Gha(unittest.TestCase):
    def test_names_leave_out_what_is_tested(self):
        name = "mean_ttft_ms|A10G x 1|Python 3.10, torch 2.3.0|Dense model - m"
        self.assertEqual(series.named(full("mean_ttft_ms")), name)
        self.assertEqual(series.named(full("mean_ttft_ms", "3.10.14", "0.4.0")), name)
        self.assertEqual(series.named("a | b"), "a b|||")

    def test_rates_are_inverted_and_observed_latencies_are_not(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "data.js")
            with open(path, "w") as f:
                f.write(store(entry(100, "a", full("request_throughput"), 4.0, "customBiggerIsBetter"),
                              entry(101, "a", full("p99_ttft_ms"), 50.0, "customBiggerIsBetter")))
            (_, night), = series.gha(path)
        self.assertEqual(sorted(night.values()), [.25, 50.0])

    def test_all_stores_of_a_branch(self):
        def git(*args):
            who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
            subprocess.run(["git", "-C", folder, *who, *args], check=True, capture_output=True)

        first, second, third = (entry(100 + 24 * i, c, full("mean_ttft_ms"), 50.0 + i) for i, c in enumerate("abc"))
        with tempfile.TemporaryDirectory() as folder:
            git("init", "-q", "-b", "gh-pages")
            for text, name in ((store(first, second), "data.js"), (store(second, third), "data.js")):
                with open(os.path.join(folder, name), "w") as f:
                    f.write(text)
                git("add", ".")
                git("commit", "-q", "-m", "more")
            with open(os.path.join(folder, "data.js-old.gz"), "wb") as f:
                f.write(gzip.compress(store(entry(10, "z", full("mean_ttft_ms"), 49.0)).encode()))
            git("add", ".")
            git("commit", "-q", "-m", "old")
            found = series.gha(folder)
        self.assertEqual([list(night.values()) for _, night in found], [[49.0], [50.0], [51.0], [52.0]])


if __name__ == "__main__":
    unittest.main()
