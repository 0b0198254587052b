#!/usr/bin/env python3
"""Times builds and compares them with asv: build.py [--large]

Makes a history (gen_history.py), builds its site cold, again, and after one more release, and publishes the same amount
of data with airspeed velocity (asv, from PyPI) in the same run. Prints seconds, peak memory, files and bytes with
their goals. --large adds 10^5 series x 10 releases. Seconds are of this machine; the ratio to asv is the figure to
compare.
"""
import glob, os, shutil, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import commands


def run(argv, cwd):
    """Runs a process; returns seconds and the peak memory in MB of it and its children."""
    begin = time.monotonic()
    child = subprocess.Popen(argv, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    messages = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{' '.join(argv)}: exit {child.returncode}\n{messages.decode()[-2000:]}")
    return time.monotonic() - begin, usage.ru_maxrss / 1024


def weight(folder):
    """Files and MB of a folder."""
    names = [os.path.join(d, f) for d, _, files in os.walk(folder) for f in files]
    return len(names), sum(os.path.getsize(n) for n in names) / 1e6


def row(what, value, goal=""):
    print(f"{what:<58} {value:>26}   {goal}", flush=True)


def ours(work, sizes, name, goals):
    """Times ttreport; returns the seconds of a cold build. sizes: models, devices, workloads, releases."""
    folder = os.path.join(work, name)
    os.makedirs(folder)
    commands.sh(sys.executable, os.path.join(HERE, "gen_history.py"), "history", *map(str, sizes), cwd=folder)
    build = [os.path.join(work, "ttreport"), "build"]
    newest = glob.glob(f"{folder}/history/*/*/*-r{sizes[3] - 1:03d}.json")
    for path in newest:
        os.rename(path, path + ".aside")
    run(build, folder)
    for path in newest:
        os.rename(path + ".aside", path)
    added, added_mb = run(build, folder)
    for path in (os.path.join(folder, "_site"), os.environ["XDG_CACHE_HOME"]):
        shutil.rmtree(path, ignore_errors=True)
    cold, mb = run(build, folder)
    again, _ = run(build, folder)
    files, size = weight(os.path.join(folder, "_site"))
    row(f"{name}: build, cold", f"{cold:.1f} s, {mb:.0f} MB", goals[0])
    row(f"{name}: build, nothing changed", f"{again:.2f} s")
    row(f"{name}: build, one more release", f"{added:.1f} s, {added_mb:.0f} MB", goals[1])
    row(f"{name}: site", f"{files:,} files, {size:.0f} MB", goals[2])
    return cold


def asv(work):
    """Times asv on the same amount of data; returns seconds."""
    env, folder = os.path.join(work, "asv-env"), os.path.join(work, "asv")
    commands.sh(sys.executable, "-m", "venv", env, cwd=work)
    commands.sh(f"{env}/bin/pip", "install", "-q", "asv==0.6.6", "virtualenv", cwd=work)
    commands.sh(sys.executable, os.path.join(HERE, "gen_asv.py"), folder, "10000", "1", "50", cwd=work)
    seconds, mb = run([f"{env}/bin/asv", "publish", "--config", "asv.conf.json"], folder)
    files, size = weight(os.path.join(folder, "html"))
    row("asv 0.6.6 publish, 10^4 benchmarks x 50 commits", f"{seconds:.1f} s, {mb:.0f} MB")
    row("asv: site", f"{files:,} files, {size:.0f} MB")
    return seconds


def main():
    if sys.argv[1:] not in ([], ["--large"]):
        sys.exit(__doc__)
    commands.clean_up_when_ended()
    work = tempfile.mkdtemp(prefix="ttreport-measure-")
    os.environ["XDG_CACHE_HOME"] = os.path.join(work, "cache")
    os.environ.pop("CI", None)  # there nothing is cached
    try:
        commands.build(work)
        cold = ours(work, (25, 5, 20, 50), "10^4 series x 50 releases", ("2 s, 200 MB", "0.5 s", "100 MB"))
        row("asv publish / cold build", f"{asv(work) / cold:.1f}", "7")
        if sys.argv[1:]:
            ours(work, (250, 5, 20, 10), "10^5 series x 10 releases", ("6 s, 400 MB", "", "100 MB"))
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
