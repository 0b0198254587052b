#!/usr/bin/env python3
"""Times `ttreport inspect` on files with per-request values: reading.py [--runs N] [--folder F]

Makes vLLM results with arrays (100 MB in 40 files) and AIPerf records (300 MB in one file), then runs `ttreport
inspect` and jq in turns: jq only decodes and adds up one list. Prints MB/s, peak memory and the ratio of the two for
each, with the least, the median and the greatest over the runs. --folder times a folder of one's own too. The ratio
is the figure to compare; seconds depend on the machine.
"""
import argparse, json, os, random, shutil, statistics, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import commands


def detailed(folder, files, requests, tokens):
    """Results of `vllm bench serve --save-detailed`, as a tool writes them: floats of 16 digits."""
    rnd = random.Random(1)
    os.makedirs(folder)
    for n in range(files):
        itls = [[rnd.gauss(.02, .004) for _ in range(tokens - 1)] for _ in range(requests)]
        ttfts = [rnd.gauss(.1, .02) for _ in range(requests)]
        doc = {"date": f"2026010{n % 9 + 1}-0{n // 9:02d}000", "backend": "vllm", "model_id": "acme/m",
               "num_prompts": requests, "request_rate": "inf", "max_concurrency": n + 1, "duration": 60.5 + n,
               "completed": requests, "total_input_tokens": 128 * requests, "total_output_tokens": tokens * requests,
               "request_throughput": requests / (60.5 + n), "output_throughput": tokens * requests / (60.5 + n),
               "mean_ttft_ms": 1000 * statistics.fmean(ttfts), "input_lens": [128] * requests,
               "output_lens": [tokens] * requests, "ttfts": ttfts, "itls": itls, "errors": [""] * requests}
        with open(f"{folder}/detailed-{n:02d}.json", "w") as f:
            json.dump(doc, f)


def records(folder, size):
    """AIPerf's profile_export.jsonl, with the metrics of a streamed request."""
    rnd = random.Random(1)
    os.makedirs(folder)
    lines = []
    for _ in range(400):
        gaps = [rnd.gauss(20, 4) for _ in range(127)]
        first = rnd.gauss(100, 20)
        values = {"time_to_first_token": first, "request_latency": first + sum(gaps), "input_sequence_length": 128,
                  "output_sequence_length": 128, "inter_chunk_latency": gaps, "inter_token_latency": sum(gaps) / 127}
        values.update({f"some_other_metric_{k}": rnd.random() for k in range(25)})
        lines.append(json.dumps({
            "metadata": {"session_num": 1, "x_request_id": "a", "request_start_ns": 1795228579558739543,
                         "request_end_ns": 1795228579658739543, "benchmark_phase": "profiling", "was_cancelled": False},
            "metrics": {k: {"value": v, "unit": "ms"} for k, v in values.items()}}) + "\n")
    with open(f"{folder}/profile_export.jsonl", "w") as f:
        while f.tell() < size:
            f.writelines(lines)


def run(argv):
    """Runs a process; returns seconds and the peak memory in MB."""
    begin = time.monotonic()
    child = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    messages = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{' '.join(argv)}: exit {child.returncode}\n{messages.decode()[-2000:]}")
    return time.monotonic() - begin, usage.ru_maxrss / 1024


def spread(values, digits):
    return " to ".join(f"{v:.{digits}f}" for v in (min(values), statistics.median(values), max(values)))


def compare(name, ours, folder, expression, runs):
    files = sorted(os.path.join(d, f) for d, _, fs in os.walk(folder) for f in fs)
    size = sum(map(os.path.getsize, files)) / 1e6
    fast, memory, ratio, theirs = [], [], [], []
    for _ in range(runs):
        seconds, mb = run([ours, "inspect", folder])
        fast.append(size / seconds)
        memory.append(mb)
        if expression:
            other, mb = run(["jq", "-c", expression, *files])
            ratio.append(other / seconds)
            theirs.append(mb)
    print(f"{name}, {size:.0f} MB: {spread(fast, 0)} MB/s, {spread(memory, 0)} MB of memory", flush=True)
    if ratio:
        print(f"    jq takes {spread(ratio, 1)} times as long, and {max(theirs):.0f} MB", flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--runs", type=int, default=5)
    p.add_argument("--folder")
    args = p.parse_args()
    jq = bool(shutil.which("jq"))
    if not jq:
        print("jq is not installed: nothing to compare with")
    with tempfile.TemporaryDirectory() as work:
        ours = commands.build(work)
        detailed(f"{work}/vllm", 40, 1000, 128)
        records(f"{work}/aiperf", 300e6)
        compare("vLLM with arrays, 40 files", ours, f"{work}/vllm", jq and "[.itls[][]] | add", args.runs)
        compare("AIPerf records, one file", ours, f"{work}/aiperf", jq and ".metrics.request_latency.value", args.runs)
        if args.folder:
            compare(args.folder, ours, args.folder, "", args.runs)


if __name__ == "__main__":
    main()
