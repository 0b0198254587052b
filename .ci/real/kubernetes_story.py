"""Plans on a Kubernetes cluster, and what goes wrong: the command that submitted them is killed twice, a pod is
evicted, another reaches its time limit, a measurement fails, and the API server is away. Then a thousand jobs at once,
and the memory that following them needs.
"""
import base64, collections, glob, gzip, hashlib, io, json, os, signal, subprocess, tarfile, threading, time
import urllib.parse

import commands
from journals import events, measured, rows, until
from servers.kubernetes import Kubelet, kubernetes

QUICK = '["isl=64,osl=100,c=1,n=8", "isl=64,osl=50,c=2,n=24"]'  # some seconds each
SLOW = '["isl=64,osl=100,c=1,n=40", "isl=64,osl=100,c=2,n=80"]'  # a quarter of a minute each
ENTRIES, FAILS, LATE, POINTS = 8, 7, 8, 2
MOST_MEMORY = 150e6
ARRAYS = 50  # of a thousand jobs
JOBS = "/apis/batch/v1/namespaces/default/jobs"
BALLAST = 14_000_000  # bytes of a run on the claim: more than a kubelet keeps of a log


def plan(program, path):
    """Writes the plan, with servers on the machine's clock: the seventh entry has no server, and the last one needs
    more than its time. Half of them keep their results on a claim."""
    with open(path, "w") as f:
        f.write("plans:\n")
        for i in range(1, ENTRIES + 1):
            server = f"command {program} sim --port {commands.port()}"
            if i == FAILS:
                server = "command no-such-server --port 1"
            more = ', time: "0:25"' if i == LATE else ""
            more += ", results: bench" if i % 2 == 0 else ""
            f.write(f"- {{model: sim-8b, device: simulated, release: v{i:02}, "
                    f"only: benchmarks, server: {server},\n   workloads: {SLOW if i >= LATE or i <= 2 else QUICK}, "
                    f"resources: {{image: 'example/ttreport:1', devices: ['ttreport.dev/sim=1']{more}}}}}\n")


def claim(plane):
    """A claim that is bound, as an administrator makes it."""
    size = {"storage": "1Gi"}
    plane.ask("POST", "/api/v1/persistentvolumes", {"metadata": {"name": "bench"}, "spec": {
        "capacity": size, "accessModes": ["ReadWriteMany"], "hostPath": {"path": "/none"}, "storageClassName": "none"}})
    plane.ask("POST", "/api/v1/namespaces/default/persistentvolumeclaims", {"metadata": {"name": "bench"}, "spec": {
        "accessModes": ["ReadWriteMany"], "resources": {"requests": size}, "volumeName": "bench",
        "storageClassName": "none"}})


def pods(kubelet, entry):
    """The pods of an entry that have begun: each group of the plan has one kind of resources."""
    return [name for name, _ in kubelet.runs if f"-{entry[0]}-{entry[1]}-" in name]


def story(ttreport, work):
    """Runs it; returns the table of the jobs, and what is wrong ("" for nothing)."""
    folder = f"{work}/jobs"
    os.makedirs(folder)
    plan(ttreport, f"{folder}/plan.yaml")
    argv = [ttreport, "collect", "--on", "kubernetes", "--plan", "plan.yaml", "--poll", "1s"]
    with kubernetes(work) as plane, open(f"{folder}/log", "w") as log:
        env = plane.env()
        claim(plane)
        kubelet = Kubelet(plane, ttreport, 4, 1, ballast=BALLAST)
        try:
            def command():
                return subprocess.Popen(argv, cwd=folder, stdout=log, stderr=log, env=env)

            killed = command()  # while it submits
            until(lambda: any(e["event"] == "submit" for e in events(folder, "kubernetes")))
            killed.send_signal(signal.SIGKILL)
            killed.wait()
            killed = command()  # while it follows
            victims = until(lambda: len(kubelet.runs) >= 4 and [n for n, _ in kubelet.runs])
            killed.send_signal(signal.SIGKILL)
            killed.wait()
            time.sleep(5)
            on_claim = [n for n in victims if claimed(plane, n)]
            alone = [n for n in victims if n not in on_claim]
            kubelet.evicted.update(on_claim[:1] + alone[:1])
            print(f"   {sorted(kubelet.evicted)} are evicted, and the API server is away", flush=True)
            until(lambda: all(kubelet.pods[n].poll() is not None for n in kubelet.evicted))
            time.sleep(1)
            plane.daemons["api"].kill()
            plane.daemons["api"].wait()
            back = threading.Timer(8, plane.api)
            back.start()
            out = commands.sh(*argv, cwd=folder, limit=900, ok=False, env=env)
            back.join()
        finally:
            kubelet.down()
        commands.sh(ttreport, "build", "--strict", cwd=folder)
        measuring = [name for name, _ in kubelet.runs if "-read-" not in name]
        return out, wrong(folder, out, len(measuring)) or lost(folder, f"{kubelet.folder}/claim")


def claimed(plane, pod):
    """Whether the results of a pod are on the claim."""
    spec = plane.ask("GET", f"/api/v1/namespaces/default/pods/{pod}")["spec"]
    return any("persistentVolumeClaim" in v for v in spec["volumes"])


def wrong(folder, out, runs):
    """What is not as it must be."""
    done = measured(folder, "kubernetes")
    names = collections.Counter(e["name"] for e in events(folder, "kubernetes") if e["event"] == "submitted")
    want = (ENTRIES - 1) * POINTS
    if len(done) != want or max(done.values()) > 1:
        return f"measured {len(done)} points, at most {max(done.values(), default=0)} times; {dict(done)}"
    if rows(folder) != want:
        return f"the site has {rows(folder)} points"
    if max(names.values()) > 1:
        return f"submitted: {dict(names)}"
    if f"{ENTRIES - 1} Succeeded" not in out or "1 Failed" not in out or "DeadlineExceeded (retry 1 of 2)" not in out:
        return "not every job ended as it must"
    if "the API server does not answer" not in out or "the API server answers again" not in out:
        return "nobody noticed that the API server was away"
    if runs < ENTRIES + 3:
        return f"{runs} pods ran: nothing was evicted"
    return ""


def lost(folder, claim):
    """What is on the claim and not in the results."""
    def files(at):
        return {os.path.basename(os.path.dirname(name)): open(name, "rb").read()
                for name in glob.glob(f"{at}/**/ballast.bin", recursive=True)}

    on_claim, here = files(claim), files(f"{folder}/results")
    print(f"   {len(here)} runs of more than {BALLAST / 1e6:.0f} MB came from the claim", flush=True)
    return "" if on_claim == here and len(here) == ENTRIES // 2 else f"on the claim {list(on_claim)}, here {list(here)}"


def queue(ttreport, work):
    """A Job with Kueue's label, and jobs that are ended, on a cluster of their own; returns what is wrong."""
    with kubernetes(work) as plane:
        claim(plane)
        kubelet = Kubelet(plane, ttreport, 4, 1)
        try:
            return queued(ttreport, f"{work}/queue", plane) or cancelled(ttreport, f"{work}/cancel", plane, kubelet)
        finally:
            kubelet.down()


def cancelled(ttreport, folder, plane, kubelet, jobs=4):
    """Jobs that are ended while they measure leave what they have measured, through their logs and on a claim; returns
    what is wrong."""
    os.makedirs(folder)
    begun = len(kubelet.runs)
    with open(f"{folder}/plan.yaml", "w") as f:
        f.write("plans:\n" + "".join(
            f"- {{model: sim-8b, device: simulated, release: v{i}, only: benchmarks, "
            f"server: command {ttreport} sim --port {commands.port()},\n"
            f"   workloads: ['isl=64,osl=20,c=1,n=4', 'isl=64,osl=100,c=1,n=4000'], resources: {{image: "
            f"'example/ttreport:1', devices: ['ttreport.dev/sim=1']{', results: bench' if i == 0 else ''}}}}}\n"
            for i in range(jobs)))
    argv = [ttreport, "collect", "--on", "kubernetes"]
    commands.sh(*argv, "--plan", "plan.yaml", "--detach", cwd=folder, env=plane.env())
    until(lambda: len(kubelet.runs) == begun + jobs and all(
        "point     1/2" in open(f"{kubelet.folder}/{name}.log").read() for name, _ in kubelet.runs[begun:]))
    out = commands.sh(*argv, "--cancel", cwd=folder, env=plane.env(), limit=300, ok=False)
    done, left = measured(folder, "kubernetes"), plane.ask("GET", JOBS)["items"]
    print(f"   {jobs} jobs are ended: {len(done)} points came", flush=True)
    left = [j["metadata"]["name"] for j in left if "-read-" in j["metadata"]["name"] or j["status"].get("active")]
    return "" if len(done) == jobs and not left else f"ended jobs: {dict(done)} points, {left} are left: {out[-500:]}"


def queued(ttreport, folder, plane):
    """A Job with Kueue's label waits until something admits it, as Kueue does; returns what is wrong."""
    os.makedirs(folder)
    with open(f"{folder}/plan.yaml", "w") as f:
        f.write(f"plans: [{{model: sim-8b, device: simulated, release: v1, only: benchmarks, server: sim, "
                f"workloads: {QUICK}, resources: {{image: 'example/ttreport:1', queue: bench}}}}]\n")
    with open(f"{folder}/log", "w") as log:
        run = subprocess.Popen([ttreport, "collect", "--on", "kubernetes", "--plan", "plan.yaml", "--poll", "1s"],
                               cwd=folder, stdout=log, stderr=log, env=plane.env())
        until(lambda: "Suspended (queue bench)" in open(f"{folder}/log").read())
        label = urllib.parse.quote("kueue.x-k8s.io/queue-name=bench")
        jobs = plane.ask("GET", f"{JOBS}?labelSelector={label}")["items"]
        if len(jobs) != 1 or not jobs[0]["spec"]["suspend"]:
            return f"a queue: {jobs}"
        plane.ask("PATCH", f"{JOBS}/{jobs[0]['metadata']['name']}", {"spec": {"suspend": False}},
                  "application/merge-patch+json")
        code = run.wait(120)
    print("   a Job of a queue waits until it is admitted", flush=True)
    return f"a queue: exit {code}: {open(f'{folder}/log').read()[-300:]}" if code else ""


def printed(files):
    """What a pod prints of a run folder."""
    archive, lines, sum = io.BytesIO(), [], hashlib.sha256()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    data = gzip.compress(archive.getvalue())
    for i in range(0, len(data), 9000):
        sum.update(data[i:i + 9000])
        lines.append("ttreport-results " + base64.b64encode(data[i:i + 9000]).decode())
    return "\n".join(lines + ["ttreport-results-end " + sum.hexdigest(), ""]).encode()


def thousand(ttreport, work, n=1000):
    """Follows n jobs; returns the peak of its memory in bytes, and what is wrong."""
    folder = f"{work}/thousand"
    os.makedirs(folder)
    entry = ("- {{model: sim-8b, device: simulated, server: sim, release: v1, only: benchmarks, "
             "workloads: ['isl=8,osl=4,c=1,n={i}'], resources: {{image: 'example/ttreport:1', "
             "devices: ['ttreport.dev/sim=1'], time: {array}}}}}\n")
    with open(f"{folder}/plan.yaml", "w") as f:
        f.write("plans:\n" + "".join(entry.format(i=i + 1, array=1 + i % ARRAYS) for i in range(n)))
    event = '{"time":"2026-01-01T00:00:00Z","event":"%s","item":"p"}\n'
    log = b"1 point measured\n" + printed({
        "r/journal.jsonl": "".join(event % e for e in ("run-start", "point-start", "point-done", "run-done")),
        "r/ttreport.manifest.yaml": "release: v1\n"})
    with kubernetes(work) as plane:
        kubelet = Kubelet(plane, ttreport, 4, n, quick=lambda pod: log)
        try:
            with open(f"{folder}/out", "w") as out:
                run = subprocess.Popen(
                    [ttreport, "collect", "--on", "kubernetes", "--plan", "plan.yaml", "--poll", "2s"], cwd=folder,
                    stdout=out, stderr=out, env=plane.env())
                peak, begin = 0, time.monotonic()
                while run.poll() is None and time.monotonic() - begin < 900:
                    with open(f"/proc/{run.pid}/status") as f:
                        peak = max([peak] + [1024 * int(line.split()[1]) for line in f if line.startswith("VmHWM")])
                    time.sleep(.2)
                commands.end(run)
        finally:
            kubelet.down()
    with open(f"{folder}/out") as f:
        out = f.read()
    if f"\n{n} Succeeded\n" not in out:
        return peak, "not every job ended well: " + out[-500:]
    return peak, "" if peak < MOST_MEMORY else f"{peak / 1e6:.0f} MB of memory"
