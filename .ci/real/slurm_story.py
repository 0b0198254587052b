"""A plan of twelve entries on a Slurm cluster of four nodes, and what goes wrong at night: the command that submitted
them is killed twice, a node loses power, the controller is away, and a job reaches its time limit. Every point must be
measured exactly once.
"""
import collections, glob, json, os, signal, subprocess, threading, time

import commands
from servers.slurm import slurm

ENTRIES, POINTS = 12, 3
QUICK = '["isl=64,osl=100,c=1,n=8", "isl=64,osl=50,c=2,n=24", "isl=32,osl=100,c=4,n=32"]'  # some seconds each
SLOW = '["isl=64,osl=100,c=1,n=70", "isl=64,osl=100,c=2,n=140", "isl=32,osl=100,c=4,n=280"]'  # half a minute each


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


def events(folder):
    """The journal of the submission."""
    out = []
    for name in glob.glob(f"{folder}/.ttreport/slurm/*/journal.jsonl"):
        with open(name) as f:
            out += [json.loads(line) for line in f if line.endswith("\n")]
    return out


def until(what, limit=60):
    """Waits for something, and returns it."""
    for _ in range(limit * 20):
        if found := what():
            return found
        time.sleep(.05)
    raise RuntimeError("waited in vain")


def running():
    """The jobs that run, by node."""
    out = subprocess.run(["squeue", "-h", "-r", "-t", "RUNNING", "-o", "%N"], capture_output=True, text=True).stdout
    return collections.Counter(out.split())


def measured(folder):
    """How often each point of each entry has a result that its journal calls done."""
    done = collections.Counter()
    for name in glob.glob(f"{folder}/results/slurm-*/*/*/journal.jsonl"):
        entry = name.split("/")[-3]
        with open(name) as f:
            done.update((entry, e["item"]) for e in map(json.loads, f) if e["event"] == "point-done")
    return done


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
        until(lambda: any(e["event"] == "submit" for e in events(folder)))
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
            out = commands.sh(*argv, cwd=folder, limit=240, ok=False)
        finally:
            back.cancel()
        commands.sh(ttreport, "build", "--strict", cwd=folder)
    return out, wrong(folder, out)


def wrong(folder, out):
    """What is not as it must be."""
    done, submitted = measured(folder), [e for e in events(folder) if e["event"] == "submitted"]
    rows = 0
    for name in glob.glob(f"{folder}/_site/data/points/v*.csv"):
        with open(name) as f:
            rows += len(f.readlines()) - 1
    arrays = collections.Counter(e["name"] for e in submitted)
    if len(done) != ENTRIES * POINTS or max(done.values()) > 1:
        return f"measured {len(done)} points, at most {max(done.values(), default=0)} times"
    if rows != ENTRIES * POINTS:
        return f"the site has {rows} points"
    if max(arrays.values()) > 1 or not any("-r" in name for name in arrays):
        return f"submitted: {dict(arrays)}"
    if f"\n{ENTRIES} COMPLETED\n" not in out or "TIMEOUT (retry 1 of 2)" not in out:
        return "not every job is completed, or none reached its limit"
    if "the controller does not answer" not in out or "the controller answers again" not in out:
        return "nobody noticed that the controller was away"
    return ""
