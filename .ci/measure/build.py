#!/usr/bin/env python3
"""Times builds and compares them with asv: build.py [--large]

Makes a history (gen_history.py), builds its site cold, again, and after one more release, and publishes the same amount
of data with airspeed velocity (asv, from PyPI) in the same run. Prints seconds, seconds of CPU, peak memory, files and
bytes with their goals. --large adds 10^5 series x 10 releases. Seconds are of this machine; the ratio to asv is the
figure to compare, on a busy machine that of CPU.
"""
import glob, os, shutil, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import commands


def run(argv, cwd):
    """Runs a process; returns seconds, seconds of CPU, and the peak memory in MB of it and its children."""
    begin = time.monotonic()
    child = subprocess.Popen(argv, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    messages = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{' '.join(argv)}: exit {child.returncode}\n{messages.decode()[-2000:]}")
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def said(took):
    """What run returned, for a row."""
    return f"{took[0]:.1f} s, CPU {took[1]:.1f} s, {took[2]:.0f} MB"


def weight(folder):
    """Files and MB of a folder."""
    names = [os.path.join(d, f) for d, _, files in os.walk(folder) for f in files]
    return len(names), sum(os.path.getsize(n) for n in names) / 1e6


def row(what, value, goal=""):
    print(f"{what:<52} {value:>32}   {goal}", flush=True)


def ours(work, sizes, name, goals):
    """Times ttreport; returns what a cold build took. sizes: models, devices, workloads, releases."""
    folder = os.path.join(work, name)
    os.makedirs(folder)
    commands.sh(sys.executable, os.path.join(HERE, "gen_history.py"), "history", *map(str, sizes), cwd=folder)
    build = [os.path.join(work, "ttreport"), "build"]
    newest = glob.glob(f"{folder}/history/*/*/*-r{sizes[3] - 1:03d}.json")
    aside = os.path.join(folder, "aside")  # not within history, where it would be a document that cannot be read
    os.makedirs(aside)
    for i, path in enumerate(newest):
        os.rename(path, os.path.join(aside, str(i)))
    run(build, folder)
    time.sleep(3)  # documents of the last two seconds are read again
    run(build, folder)
    for i, path in enumerate(newest):
        os.rename(os.path.join(aside, str(i)), path)
    added = run(build, folder)
    for path in (os.path.join(folder, "_site"), os.environ["XDG_CACHE_HOME"]):
        shutil.rmtree(path, ignore_errors=True)
    cold = run(build, folder)
    again = run(build, folder)
    files, size = weight(os.path.join(folder, "_site"))
    row(f"{name}: build, cold", said(cold), goals[0])
    row(f"{name}: build, nothing changed", f"{again[0]:.2f} s, CPU {again[1]:.2f} s", "0.15 s")
    row(f"{name}: build, one more release", said(added), goals[1])
    row(f"{name}: site", f"{files:,} files, {size:.0f} MB", goals[2])
    return cold


def asv(work, series, releases):
    """Times asv on the same amount of data; returns what it took."""
    env, folder = os.path.join(work, "asv-env"), os.path.join(work, f"asv-{series}")
    if not os.path.exists(env):
        commands.sh(sys.executable, "-m", "venv", env, cwd=work)
        commands.sh(f"{env}/bin/pip", "install", "-q", "asv==0.6.6", "virtualenv", cwd=work)
    commands.sh(sys.executable, os.path.join(HERE, "gen_asv.py"), folder, str(series), "1", str(releases), cwd=work)
    took = run([f"{env}/bin/asv", "publish", "--config", "asv.conf.json"], folder)
    files, size = weight(os.path.join(folder, "html"))
    row(f"asv 0.6.6 publish, {series:,} benchmarks x {releases} commits", said(took))
    row("asv: site", f"{files:,} files, {size:.0f} MB")
    return took


def beside(work, sizes, name, goals, ratio):
    """Times both on the same amount of data."""
    cold = ours(work, sizes, name, goals)
    rival = asv(work, sizes[0] * sizes[1] * sizes[2] * 4, sizes[3])
    row("asv publish / cold build", f"{rival[0] / cold[0]:.1f}, CPU {rival[1] / cold[1]:.1f}", ratio)


def main():
    if sys.argv[1:] not in ([], ["--large"]):
        sys.exit(__doc__)
    commands.clean_up_when_ended()
    work = tempfile.mkdtemp(prefix="ttreport-measure-")
    try:
        commands.build(work)
        os.environ["XDG_CACHE_HOME"] = os.path.join(work, "cache")  # not before: Go's cache is below it, too
        os.environ.pop("CI", None)  # there nothing is cached
        beside(work, (25, 5, 20, 50), "10^4 series x 50 releases", ("220 MB", "1.2 s", "900 files, 80 MB"), "6")
        if sys.argv[1:]:
            beside(work, (250, 5, 20, 10), "10^5 series x 10 releases", ("400 MB", "", "2,500 files, 150 MB"), "10")
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
