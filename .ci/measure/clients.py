#!/usr/bin/env python3
"""Measures what load clients add to what they measure, each against a server that logs when it sent each token.

    clients.py [--tools builtin,builtin*4,aiperf,guidellm,vllm] [--times 1]
               [--streams 1,32,128,256,1000@40] [--busy]

The server (truth) answers on a fixed schedule: TTFT 50 ms, 10 ms a token; 1000@40 is 1,000 streams with 40 ms a token.
At 10 ms these would be 100,000 tokens a second, which keep two processors busy with sending alone. Rivals come
from PyPI, in environments that ttreport makes itself; vLLM's client runs without torch (vllm_client.py).
builtin*4 is --clients 4. --busy keeps every processor busy with something else meanwhile. One client runs at a time; of
several times, the median is printed. A shared machine is noisy: compare errors within one run of this script, never
across machines.
"""
import argparse, collections, csv, glob, json, math, os, shutil, signal, statistics, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import commands

REQUESTS = {1: 24, 32: 320, 128: 768, 256: 1024, 1000: 4000}
ISL, OSL = 128, 64
# Mean, median and 99th percentile of TTFT and the mean of TPOT, in ms.
Latency = collections.namedtuple("Latency", "mean median p99 tpot")
Run = collections.namedtuple("Run", "tool streams itl reported true cpu")  # cpu: ms a request; itl: ms a token


def quantile(values, q):
    values = sorted(values)
    at = q * (len(values) - 1)
    low = math.floor(at)
    return values[low] + (at - low) * (values[min(low + 1, len(values) - 1)] - values[low])


def error(run):
    return Latency(*(r - t for r, t in zip(run.reported, run.true)))


class Bench:
    """The programs under test, in a folder of their own."""

    def __init__(self, work, tools):
        self.work, self.tokenizer = work, f"{work}/tok"
        self.ttreport = commands.build(work)
        self.truth = commands.build(work, "./.ci/measure/truth")
        os.environ["XDG_CACHE_HOME"] = f"{work}/cache"
        tools = [t for t in tools if not t.startswith("builtin")]
        if not tools:  # builtin needs no tokenizer
            return
        commands.with_uv(work)
        for tool in ["aiperf"] + [t for t in tools if t not in ("aiperf", "vllm")]:
            self.sh(self.ttreport, "doctor", "--make", tool)
        if "vllm" in tools:
            self.sh(sys.executable, f"{HERE}/vllm_client.py", "install", f"{work}/vllm")
            os.environ["PATH"] = f"{work}/vllm/bin:" + os.environ["PATH"]
        python = glob.glob(f"{work}/cache/ttreport/tools/aiperf-*/bin/python")[0]
        self.sh(python, commands.TOKENIZER, self.tokenizer)

    def sh(self, *argv, cwd=None, **kw):
        return commands.sh(*argv, cwd=cwd or self.work, limit=1800, **kw)

    def measure(self, tool, streams, itl, repeat):
        """Runs a client once against a server of its own. None where it refuses: this machine was too busy."""
        os.sync()  # the installed files may still be written to disk
        time.sleep(3)
        folder = os.path.join(self.work, f"{tool.replace('*', 'x')}-{streams}-{itl}-{repeat}")
        os.makedirs(folder)
        requests = REQUESTS.get(streams, 4 * streams)
        log = os.path.join(folder, "truth.jsonl")
        printed = self.collect(folder, log, tool, itl, f"isl={ISL},osl={OSL},c={streams},n={requests}")
        if "measurement failed" in printed and "this machine was too busy" in printed:
            return None
        self.sh(self.ttreport, "build", cwd=folder)
        reported, cpu = self.reported(folder, tool)
        true = (min(max(r, low), high) for r, low, high in zip(reported, *sent(log, requests)))
        return Run(tool, streams, itl, reported, Latency(*true), 1000 * cpu / requests)

    def collect(self, folder, log, tool, itl, workload):
        port = commands.port()
        name, _, clients = tool.partition("*")
        tokenizer = ["--tokenizer", self.tokenizer] if os.path.exists(self.tokenizer) else []
        server = subprocess.Popen([self.truth, "-addr", f"127.0.0.1:{port}", "-log", log, "-itl", f"{itl}ms"])
        try:
            return self.sh(self.ttreport, "collect", "--model", "m", "--device", "truth", "--release", "v1",
                           "--server", f"http://127.0.0.1:{port}", "--tools", name, "--only", "benchmarks",
                           *tokenizer, "--clients", clients or "1", "--no-warmup", "--workload", workload, cwd=folder,
                           ok=False)
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(10)

    def reported(self, folder, tool):
        """What the client reports, as ttreport reads it, and its CPU seconds."""
        with open(f"{folder}/_site/data/points/v1.csv") as f:
            row = next(r for r in csv.DictReader(f) if r["tool"] == tool.partition("*")[0])
        with open(glob.glob(f"{folder}/results/**/raw/**/*.ttreport.json", recursive=True)[0]) as f:
            cpu = float(json.load(f)["client"]["cpu_s"])
        columns = ("ttft_mean_ms", "ttft_median_ms", "ttft_p99_ms", "tpot_mean_ms")
        return Latency(*(float(row[c] or "nan") for c in columns)), cpu


def sent(log, requests):
    """What the server did for the last answers, at least and at most: earlier ones are a client's own warm-up. A token
    was on the wire at some time between the beginning and the end of its flush."""
    with open(log) as f:
        lines = sorted((json.loads(line) for line in f), key=lambda r: r["arrival_ns"])
    lines = [r for r in lines if r["want"] == OSL and r["chunks"] == OSL][-requests:]
    for end in (0, 1):
        ttft = [(r["first_ns"][end] - r["arrival_ns"]) / 1e6 for r in lines]
        tpot = [(r["last_ns"][end] - r["first_ns"][1 - end]) / 1e6 / (OSL - 1) for r in lines]
        yield Latency(statistics.mean(ttft), quantile(ttft, .5), quantile(ttft, .99), statistics.mean(tpot))


def median_run(bench, tool, load, times):
    streams, _, itl = load.partition("@")
    runs = [r for r in (bench.measure(tool, int(streams), int(itl or 10), i) for i in range(times)) if r]
    if not runs:
        print(f"{tool:<10} {load:>7}   refused: this machine was too busy", flush=True)
        return None
    runs.sort(key=lambda r: abs(error(r).mean))
    run = runs[len(runs) // 2]
    cells = (f"{r:8.2f} {t:8.2f} {e:+8.2f}" for r, t, e in zip(run.reported, run.true, error(run)))
    print(f"{tool:<10} {load:>7}   {'   '.join(cells)}   {run.cpu:9.2f}", flush=True)
    return run


def goals(run, rivals):
    """Yields each goal of the builtin client with whether it is met."""
    e, t = error(run), run.true
    for name, off, size in (("median", e.median, t.median), ("TPOT", e.tpot, t.tpot)):
        bound = max(.2, .01 * size)
        yield f"{name} off by {abs(off):.3f} ms (goal {bound:.2f})", abs(off) <= bound
    if run.streams >= 32:  # below, it is mostly that of starting
        yield f"CPU {run.cpu:.2f} ms a request (goal 1.5)", run.cpu < 1.5
    further = [f"{r.tool} ({name})" for r in rivals for name in ("mean", "p99")
               if abs(getattr(e, name)) > abs(getattr(error(r), name))]
    but = f", but not than {', '.join(further)}" if further else ""
    if rivals:
        yield f"closer than all {len(rivals)} rivals{but}", not further


def judge(runs):
    """Prints the goals of every number of streams."""
    runs = [r for r in runs if r]
    for run in (r for r in runs if r.tool.startswith("builtin")):
        rivals = [r for r in runs if not r.tool.startswith("builtin") and r[1:3] == run[1:3]]
        for text, ok in goals(run, rivals):
            print(f"{run.tool:<10} {run.streams:>4} streams, {run.itl:>3} ms: {'met   ' if ok else 'MISSED'} {text}")


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--tools", default="builtin,aiperf,guidellm,vllm")
    ap.add_argument("--streams", default="1,32,128,256,1000@40")
    ap.add_argument("--times", type=int, default=1)
    ap.add_argument("--busy", action="store_true")
    options = ap.parse_args()
    tools = options.tools.split(",")
    commands.clean_up_when_ended()
    work, others = tempfile.mkdtemp(prefix="ttreport-clients-"), []
    try:
        bench = Bench(work, tools)
        others = [subprocess.Popen([sys.executable, "-c", "while True: pass"])
                  for _ in range(os.cpu_count() if options.busy else 0)]
        print(f"{len(others)} other busy processes")
        print(f"ISL {ISL}, OSL {OSL}; first token after 50 ms, one every 10 ms (@40: 40)")
        print("all in ms: reported, true, error\n")
        heads = "   ".join(f"{name:<26}" for name in ("TTFT mean", "TTFT median", "TTFT p99", "TPOT mean"))
        print(f"{'client':<10} {'streams':>7}   {heads}   CPU/request")
        runs = [median_run(bench, t, c, options.times) for c in options.streams.split(",") for t in tools]
        print()
        judge(runs)
    finally:
        for p in others:
            p.kill()
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
