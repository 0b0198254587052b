"""A plan of twelve entries on a Slurm cluster of four nodes, and what goes wrong at night: the command that submitted
them is killed twice, a node loses power, the controller is away, and a job reaches its time limit. Every point must be
measured exactly once.
"""
import collections, contextlib, os, signal, subprocess, threading, time

import commands
from journals import events, measured, rows, until
from servers.slurm import slurm

ENTRIES, POINTS = 12, 3
QUICK = '["isl=64,osl=100,c=1,n=8", "isl=64,osl=50,c=2,n=24", "isl=32,osl=100,c=4,n=32"]'  # some seconds each
# Forty seconds each: Slurm ends a job of a minute up to half a minute late, and one point must fit into each attempt.
SLOW = '["isl=64,osl=100,c=1,n=100", "isl=64,osl=100,c=2,n=200", "isl=32,osl=100,c=4,n=400"]'


def plan(program, path):
    """Writes the plan; the last entry needs more than its minute."""
    with open(path, "w") as f:
        f.write("plans:\n")
        for i in range(1, ENTRIES + 1):
            last = i == ENTRIES
            f.write(f"- model: sim-8b\n  device: simulated\n  release: v{i:02}\n  only: benchmarks\n"
                    f"  server: command {program} sim --port {commands.port()}\n"
                    f"  workloads: {SLOW if last else QUICK}\n"
                    f"  resources: {{partition: bench, cpus: 1{', time: 1' if last else ''}}}\n")


def running():
    """The jobs that run, by node."""
    out = subprocess.run(["squeue", "-h", "-r", "-t", "RUNNING", "-o", "%N"], capture_output=True, text=True).stdout
    return collections.Counter(out.split())


def story(ttreport, work):
    """Runs it; returns the table of the jobs, and what is wrong ("" for nothing)."""
    folder = f"{work}/slurm"
    os.makedirs(folder)
    plan(ttreport, f"{folder}/plan.yaml")
    argv = [ttreport, "collect", "--on", "slurm", "--plan", "plan.yaml", "--poll", "1s"]
    with slurm(work, 4) as cluster, open(f"{folder}/log", "w") as log:
        def command():
            return subprocess.Popen(argv, cwd=folder, stdout=log, stderr=log)

        killed = command()  # while it submits
        until(lambda: any(e["event"] == "submit" for e in events(folder, "slurm")))
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        killed = command()  # while it follows
        until(lambda: sum(running().values()) >= 5)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        node = until(lambda: sorted(n for n in running() if n != "n1"))[-1]
        time.sleep(3)
        print(f"   {node} loses power, and {cluster.kill(node)} processes end", flush=True)
        cluster.stop("ctl")
        back = threading.Timer(12, cluster.daemon, ["ctl"])
        back.start()
        try:
            out = commands.sh(*argv, cwd=folder, limit=600, ok=False)
        finally:
            back.cancel()
        commands.sh(ttreport, "build", "--strict", cwd=folder)
    return out, wrong(folder, out)


def full(ttreport, work, jobs=3):
    """A shared disk that is full while jobs measure, and has room again later; returns what is wrong."""
    folder = f"{work}/full"
    os.makedirs(f"{folder}/results")
    with open(f"{folder}/plan.yaml", "w") as f:
        f.write("plans:\n" + "".join(
            f"- {{model: sim-8b, device: simulated, release: v{i}, only: benchmarks, workloads: {QUICK},\n"
            f"  server: command {ttreport} sim --port {commands.port()}, resources: {{partition: bench, cpus: 1}}}}\n"
            for i in range(jobs)))
    argv = [ttreport, "collect", "--on", "slurm", "--plan", "plan.yaml", "--poll", "1s"]
    mounted = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", f"{folder}/results"]
    if subprocess.run(mounted, capture_output=True).returncode:
        print("   did not run: a full disk: this machine allows no mounts", flush=True)
        return ""
    try:
        with slurm(folder, jobs):
            with open(f"{folder}/log", "w") as log:
                run = subprocess.Popen(argv, cwd=folder, stdout=log, stderr=log)
                until(lambda: len(measured(folder, "slurm")) >= jobs)
                fill(f"{folder}/results/ballast")
                code = run.wait(120)
            kept = len(measured(folder, "slurm"))
            commands.sh(ttreport, "build", cwd=folder)
            before = rows(folder)
            os.remove(f"{folder}/results/ballast")
            out = commands.sh(ttreport, "collect", "--on", "slurm", "--retry", "--poll", "1s", cwd=folder, limit=600,
                              ok=False)
            done = measured(folder, "slurm")
        with open(f"{folder}/log") as log:
            said = log.read().count("collect: the disk is full")
        print(f"   a full disk: exit {code}, {said} of {jobs} jobs say why, {kept} points kept", flush=True)
        if code != 4 or said != jobs or before < kept or f"{jobs} COMPLETED" not in out:
            return f"a full disk: exit {code}, {said} jobs say so, {kept} points kept, {before} read; then {out[-300:]}"
        if len(done) != jobs * POINTS or max(done.values()) > 1:
            return f"a full disk: after --retry {len(done)} of {jobs * POINTS} points, {dict(done)}"
    finally:
        subprocess.run(["umount", f"{folder}/results"], check=True)
    return ""


def fill(name):
    """Writes a file until the disk has no room."""
    with open(name, "wb", buffering=0) as f, contextlib.suppress(OSError):
        while True:
            f.write(bytes(4096))


def wrong(folder, out):
    """What is not as it must be."""
    done, submitted = measured(folder, "slurm"), [e for e in events(folder, "slurm") if e["event"] == "submitted"]
    arrays = collections.Counter(e["name"] for e in submitted)
    if len(done) != ENTRIES * POINTS or max(done.values()) > 1:
        return f"measured {len(done)} points, at most {max(done.values(), default=0)} times"
    if rows(folder) != ENTRIES * POINTS:
        return f"the site has {rows(folder)} points"
    if max(arrays.values()) > 1 or not any("-r" in name for name in arrays):
        return f"submitted: {dict(arrays)}"
    if f"\n{ENTRIES} COMPLETED\n" not in out or "TIMEOUT (retry 1 of 2)" not in out:
        return "not every job is completed, or none reached its limit"
    if "the controller does not answer" not in out or "the controller answers again" not in out:
        return "nobody noticed that the controller was away"
    return ""
