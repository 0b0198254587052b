#!/usr/bin/env python3
"""Times a build beside its rival: build.py [--large] [SHARED]

Makes histories with SHARED/bench/gen_history.py (default: ../shared beside the repository), builds their sites cold, again, and after
one more release, and publishes the same amount of data with airspeed velocity (asv, from PyPI, into a virtual environment of its own) in
the same run. Prints seconds, peak memory, files and bytes beside their goals. --large adds 10^5 series x 10 releases.
"""
import glob, os, shutil, subprocess, sys, tempfile, time

here = os.path.dirname(os.path.abspath(__file__))
repo = os.path.dirname(os.path.dirname(here))
args = [a for a in sys.argv[1:] if a != "--large"]
shared = os.path.abspath(args[0] if args else os.path.join(repo, "..", "shared"))
work = tempfile.mkdtemp(prefix="ttreport-measure-")


def run(argv, cwd):
    """Seconds and peak memory in MB of a process and its children."""
    begin = time.monotonic()
    child = subprocess.Popen(argv, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{' '.join(argv)}: exit {child.returncode}\n{said.decode()[-2000:]}")
    return time.monotonic() - begin, usage.ru_maxrss / 1024


def weight(folder):
    names = [os.path.join(d, f) for d, _, files in os.walk(folder) for f in files]
    return len(names), sum(os.path.getsize(n) for n in names) / 1e6


def row(what, value, goal):
    print(f"{what:<58} {value:>26}   {goal}", flush=True)


def ours(ttreport, sizes, name, goals):
    folder = os.path.join(work, name)
    os.makedirs(folder)
    subprocess.run([sys.executable, os.path.join(shared, "bench", "gen_history.py"), "history", *map(str, sizes)], cwd=folder, check=True)
    last = f"-r{sizes[3] - 1:03d}.json"
    newest = glob.glob(f"{folder}/history/*/*/*{last}")
    for path in newest:
        os.rename(path, path + ".aside")
    run([ttreport, "build"], folder)
    for path in newest:
        os.rename(path + ".aside", path)
    added, added_mb = run([ttreport, "build"], folder)
    for d in ("_site", ".ttreport"):
        shutil.rmtree(os.path.join(folder, d), ignore_errors=True)
    cold, mb = run([ttreport, "build"], folder)
    again, _ = run([ttreport, "build"], folder)
    files, size = weight(os.path.join(folder, "_site"))
    row(f"{name}: build, cold", f"{cold:.1f} s, {mb:.0f} MB", goals[0])
    row(f"{name}: build, nothing changed", f"{again:.2f} s", "")
    row(f"{name}: build, one more release", f"{added:.1f} s, {added_mb:.0f} MB", goals[1])
    row(f"{name}: site", f"{files:,} files, {size:.0f} MB", goals[2])
    return cold


def asv():
    env = os.path.join(work, "asv-env")
    subprocess.run([sys.executable, "-m", "venv", env], check=True)
    subprocess.run([os.path.join(env, "bin", "pip"), "install", "-q", "asv==0.6.6", "virtualenv"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    folder = os.path.join(work, "asv")
    subprocess.run([sys.executable, os.path.join(shared, "bench", "gen_asv.py"), folder, "10000", "1", "50"], check=True)
    seconds, mb = run([os.path.join(env, "bin", "asv"), "publish", "--config", "asv.conf.json"], folder)
    files, size = weight(os.path.join(folder, "html"))
    row("asv 0.6.6 publish, 10^4 benchmarks x 50 commits", f"{seconds:.1f} s, {mb:.0f} MB", "")
    row("asv: site", f"{files:,} files, {size:.0f} MB", "")
    return seconds


try:
    ttreport = os.path.join(work, "ttreport")
    subprocess.run(["go", "build", "-o", ttreport, "./cmd/ttreport"], cwd=repo, check=True)
    cold = ours(ttreport, (25, 5, 20, 50), "10^4 series x 50 releases", ("2 s, 200 MB", "0.5 s", "100 MB"))
    rival = asv()
    row("asv publish / cold build", f"{rival / cold:.1f}", "7")
    if "--large" in sys.argv:
        ours(ttreport, (250, 5, 20, 10), "10^5 series x 10 releases", ("6 s, 400 MB", "", "100 MB"))
finally:
    shutil.rmtree(work, ignore_errors=True)
