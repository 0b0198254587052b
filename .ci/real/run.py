#!/usr/bin/env python3
"""Runs the real tools against real servers and checks that ttreport reads back what they wrote.

    run.py [--only NAME,...] [--until SECONDS]

Steps that need few installs come first, Kubernetes early among them, and vLLM, which needs 6 GB and most of the time,
last; Slurm, which mostly waits, runs beside the others. --until leaves out steps that would not be over in time, by
what they take on two quiet cores and how much longer the steps before have taken.

Everything comes from package registries, into a folder that is removed at the end. What a machine cannot run is printed
with the reason and is not a failure; everything else must pass. Servers listen on loopback, load is a few dozen
requests. Exits 1 when something failed.
"""
import argparse, functools, glob, json, os, random, re, resource, shutil, sys, tempfile, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True
import commands, kubernetes_story, llama_flags, servers, slurm_story, warehouse
from collected import Collected, dump, equal, load
from servers import BUSY, Skip
from servers.kubernetes import VERSION

FIRST_BYTE = """import json, sys, time, urllib.request
url, model, isl, out = sys.argv[1:]
body = json.dumps({"model": model, "prompt": "the " * int(isl), "max_tokens": 1}).encode()
request = urllib.request.Request(url + "/v1/completions", body, {"Content-Type": "application/json"})
begin = time.perf_counter()
urllib.request.urlopen(request).read(1)
metric = {"value": 1000 * (time.perf_counter() - begin), "unit": "ms", "better": "lower"}
json.dump({"metrics": {"first_byte_ms": metric}}, open(out + "/metrics.json", "w"))
"""

TRIES = 4  # of a measurement that is refused for that: a server of .2 ms a token leaves its client no core
TARGET = """targets:
  - {model: sim-8b, device: simulated, workload: {isl: 64, osl: 16, concurrency: 1}, metric: ttft, stat: mean,
     value: 1000, level: complete, source: this test, as_of: 2026-01-31}
"""


def processor():
    """The seconds of a processor that what we started has used and that has ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Runs:
    """The steps, in a folder that all of them share, and the table of what they found."""

    def __init__(self, work):
        self.work, self.table, self.failed = work, [], []
        self.ran = []  # steps, with their seconds and those of a processor
        self.left = []  # what did not run, and why
        self.ttreport = commands.build(work)
        commands.with_uv(work)
        os.environ["XDG_CACHE_HOME"] = f"{work}/cache"

    @functools.cached_property
    def tokenizer(self):
        """One is made with AIPerf's libraries when the first step needs it."""
        self.install("aiperf")
        python = glob.glob(f"{self.work}/cache/ttreport/tools/aiperf-*/bin/python")[0]
        self.sh(python, commands.TOKENIZER, f"{self.work}/tok")
        return f"{self.work}/tok"

    def install(self, tool):
        """Makes the environment of a tool. A failure is ours where the registry has the packages."""
        try:
            commands.fetched(self.ttreport, "doctor", "--make", tool, cwd=self.work)
        except commands.Unfetched as failed:
            wanted = f"{self.work}/{tool}.in"
            with open(wanted, "w") as f:
                f.write({"inspect": "inspect-ai"}.get(tool, tool))
            try:
                self.sh("uv", "pip", "compile", "-q", wanted)
            except RuntimeError:
                raise failed from None
            raise RuntimeError(f"the registry has {tool}, and {failed}") from failed

    def sh(self, *argv, cwd=None, **kw):
        return commands.sh(*argv, cwd=cwd or self.work, **kw)

    def folder(self, name):
        path = os.path.join(self.work, name)
        os.makedirs(path, exist_ok=True)
        return path

    @staticmethod
    def busy(folder, since):
        """Whether a measurement below a folder was refused because this machine was too busy."""
        journals = glob.glob(f"{folder}/**/results/*/journal.jsonl", recursive=True)
        return any(BUSY in open(j).read() for j in journals if os.path.getmtime(j) >= since)

    def collect(self, name, server, *more, device="simulated", model="sim-8b", after=(), env=None, built=(),
                tokenized=True, release="v1"):
        """Measures, builds with --strict, and returns what was collected. after: the arguments of a started server;
        tokenized: whether the tokenizer is stated."""
        folder, begin = self.folder(name), time.monotonic()
        if tokenized:
            more = ("--tokenizer", self.tokenizer, *more)
        argv = (self.ttreport, "collect", *(("--model", model) if model else ()), "--device", device,
                "--release", release, "--server", server, *more, *(("--", *after) if after else ()))
        for attempt in range(1, TRIES + 1):
            started = time.time()
            try:
                self.sh(*argv, cwd=folder, env=env)
                break
            except RuntimeError:  # servers share this machine with the client, which refuses a point that it read late
                if not self.busy(folder, started):
                    raise
                if attempt == TRIES:
                    raise Skip(f"{name}: {BUSY}, {TRIES} times")
                print(f"   the same again: {BUSY}", flush=True)
        seconds = time.monotonic() - begin
        self.sh(self.ttreport, "build", "--strict", *built, cwd=folder)
        return Collected(folder, seconds, release)

    def row(self, tool, server, c, what, equal):
        """Adds what a tool did to the table; equal: whether it was read back as it was written."""
        self.table.append((tool, c.version(tool), server, what, f"{c.seconds:.0f}", equal))
        print(f"   ran: {tool} {c.version(tool)} on {server}: {what} in {c.seconds:.0f} s, read back equal: {equal}",
              flush=True)
        if not equal.startswith("yes"):
            self.failed.append(f"{tool} on {server}: {equal}")

    def simulator(self):
        return f"command {self.ttreport} sim --port {commands.port()}"

    def load_client(self, tool, *more):
        self.install(tool)
        key = "sk-" + os.urandom(12).hex()
        c = self.collect(f"{tool}-sim", self.simulator() + " --key-from OPENAI_API_KEY", "--tools", tool,
                         "--only", "benchmarks", "--workload", "isl=64,osl=16,c=4,n=16", *more,
                         env={**os.environ, "OPENAI_API_KEY": key})
        equal = c.ttft(tool)
        if c.has(key):
            equal = "NO: a file has the key"
        if "required or planned" in open(f"{c.folder}/_site/reports/v1/release.md").read():
            equal = "NO: what was planned counts as missing"
        self.row(tool, "sim with a key", c, f"{len(c.points)} points", equal)

    def aiperf(self):
        self.load_client("aiperf", "--workload", "isl=64,osl=16,c=1,n=4")

    def guidellm(self):
        servers.room(self.work, 12)  # it requires a torch with the libraries of CUDA
        self.load_client("guidellm", "--workload", "isl=64,osl=16,c=1,n=4")

    def lm_eval(self):
        self.install("lm-eval")
        rnd = random.Random(1)
        with open(self.folder("lm-eval-sim") + "/sums.jsonl", "w") as f:
            for _ in range(20):
                f.write(json.dumps({"a": rnd.randint(10, 99), "b": rnd.randint(10, 99)}) + "\n")
        os.makedirs(self.folder("lm-eval-sim") + "/targets", exist_ok=True)
        with open(self.folder("lm-eval-sim") + "/targets/ours.yaml", "w") as f:  # a release of which nothing is graded
            f.write(TARGET)  # is not accepted
        c = self.collect("lm-eval-sim", self.simulator(), "--workflow", "release", "--tools", "builtin",
                         "--workload", "isl=64,osl=16,c=1,n=4", "--evals", "ttreport_sums",
                         "--eval-tasks", os.path.join(HERE, "tasks"), tokenized=False)
        theirs = [load(f)["results"]["ttreport_sums"]["exact_match,number"]
                  for f in c.files("lm-eval-ttreport_sums/*/results_*.json")]
        ours = [s["value"] for s in c.scores if s["task"] == "ttreport_sums"]
        self.row("lm-eval", "sim", c, f"{len(ours)} score", equal(ours, theirs))

    def inspect(self):
        self.install("inspect")
        shutil.copy(os.path.join(HERE, "tasks", "sums.py"), self.folder("inspect-sim"))
        c = self.collect("inspect-sim", self.simulator(), "--only", "evals", "--evals", "inspect:sums.py",
                         tokenized=False)
        theirs = [load(f)["results"]["scores"][0]["metrics"]["accuracy"]["value"] for f in c.files("inspect-*/*.json")]
        ours = [s["value"] for s in c.scores if s["metric"] == "accuracy"]
        self.row("inspect", "sim", c, f"{len(ours)} score", equal(ours, theirs))

    def exec(self):
        """A benchmark of the user's own, declared in ttreport.yaml: the time to the first byte."""
        folder = self.folder("exec-sim")
        with open(f"{folder}/ttreport.yaml", "w") as f:
            f.write("exec:\n  first-byte: python3 first_byte.py {url} {model} {isl} {out}\n")
        with open(f"{folder}/first_byte.py", "w") as f:
            f.write(FIRST_BYTE)
        c = self.collect("exec-sim", self.simulator(), "--tools", "first-byte", "--only", "benchmarks",
                         "--workload", "isl=64,osl=1,c=1,n=1", "--workload", "isl=512,osl=1,c=1,n=1")
        theirs = [load(f)["metrics"]["first_byte_ms"]["value"] for f in c.files("*/metrics.json")]
        points = (p for f in glob.glob(f"{folder}/history/**/*.json", recursive=True) for p in load(f)["points"])
        ours = [p["metrics"]["first_byte_ms{ms,lower}"]["value"] for p in points]
        self.row("exec", "sim", c, f"{len(ours)} points",
                 equal(ours, theirs) if len(ours) == 2 else f"NO: {len(ours)} points")

    def llama(self):
        """llama.cpp's own server, with a random model."""
        command = servers.llama(self.work, "acme/tiny")
        for tool in ("builtin", "aiperf"):
            port = commands.port()
            c = self.collect(f"{tool}-llama", f"command {command(port)}", "--port", str(port), "--tools", tool,
                             "--only", "benchmarks", "--workload", "isl=64,osl=16,c=1,n=4",
                             "--workload", "isl=64,osl=16,c=4,n=8",
                             device="cpu", model="acme/tiny")
            self.row(tool, "llama.cpp", c, f"{len(c.points)} points",
                     c.measured(2) if tool == "builtin" else c.ttft(tool))
        self.llama_rank(command)
        self.llama_cache(command)
        self.llama_drafts(command)

    def llama_rank(self, command):
        port = commands.port()
        c = self.collect("rank-llama", f"command {command(port, '--rank')}", "--port", str(port),
                         "--only", "benchmarks", "--workload", "endpoint=rerank,isl=128,c=2,n=16",
                         device="cpu", model="acme/tiny", tokenized=False)
        fine = len(c.points) == 1 and float(c.points[0]["e2el_mean_ms"] or 0) > 0
        self.row("builtin", "llama.cpp that ranks", c, f"{len(c.points)} point", "yes" if fine else f"NO: {c.points}")

    def llama_cache(self, command):
        """The share of the prompts that the server found in its cache is the one that was asked for."""
        port = commands.port()
        c = self.collect("cache-llama", f"command {command(port)}", "--port", str(port), "--only", "benchmarks",
                         "--workload", "isl=512,osl=4,c=1,n=100,hit=60%", device="cpu", model="acme/tiny",
                         tokenized=False)
        found = float(c.client("prompt_cached") or "nan")
        self.row("builtin", "llama.cpp with its prefix cache", c, f"{len(c.points)} point",
                 "yes" if abs(found - .6) < .03 else f"NO: {found} of the prompts cached, .6 asked for")

    def llama_drafts(self, command):
        """A model that drafts for itself has every token accepted, by the server's answers and by its counters."""
        port = commands.port()
        drafts = command(port, f"--draft {self.work}/tiny-2.gguf")
        c = self.collect("drafts-llama", f"command {drafts}", "--port", str(port), "--only", "benchmarks",
                         "--workload", "isl=64,osl=32,c=1,n=8", device="cpu", model="acme/tiny")
        points = load(glob.glob(f"{c.folder}/history/**/*.json", recursive=True)[0])["points"]
        metrics = next(p["metrics"] for p in points if p["key"]["task"] == "text")
        rate, length, first = (metrics.get(name, {}).get("value") for name in
                               ("acceptance_rate", "acceptance_length", "acceptance_rate_1"))
        started = [p["metrics"]["startup_s"]["mean"] for p in points if p["key"]["task"] == "startup"]
        fine = rate == 100 and first == 100 and length and 2 < length <= 4 and len(started) == 1 and started[0] > 0
        self.row("builtin", "llama.cpp that drafts", c, f"{len(c.points)} point",
                 "yes" if fine else f"NO: rate {rate}, length {length}, at the first place {first}")

    def vllm(self):
        """A real vLLM on the CPU, started with --server-only and measured with its own client and ours."""
        model, port = servers.vllm(self.work), commands.port()
        begin = time.monotonic()
        started = self.sh(
            self.ttreport, "collect", "--model", "acme/tiny", "--device", "cpu", "--server-only", "--server",
            f"command {self.work}/vllm/bin/vllm serve {model} --served-model-name acme/tiny --host 127.0.0.1 "
            f"--port {port} --dtype float32 --max-model-len 2048 --max-num-seqs 8 --enforce-eager")
        stop = next(line[line.index("kill "):] for line in started.splitlines() if "kill " in line)
        print(f"   ran: --server-only: vLLM is ready after {time.monotonic() - begin:.0f} s", flush=True)
        try:
            for flow in (self.vllm_targets, self.vllm_batches, self.vllm_configuration):
                flow(f"http://127.0.0.1:{port}", model)
        finally:
            self.sh("bash", "-c", stop, ok=False)
        self.load_client("vllm")  # it is on the PATH now

    def vllm_targets(self, url, model):
        """A sweep from targets with an override."""
        targets = {"theoretical": {"ttft_ms": 5, "tput_user": 1000}}
        override = dump(f"{self.work}/override.json", {"tiny": {"cpu": [
            {"isl": 32, "osl": 16, "max_concurrency": 2, "num_prompts": 8, "targets": targets}]}})
        env = {"OVERRIDE_BENCHMARK_TARGETS": override, "ONLY_BENCHMARK_TARGETS": "1"}
        c = self.collect("vllm-vllm", url, "--tools", "vllm,builtin", "--only", "benchmarks", "--tokenizer", model,
                         device="cpu", model="acme/tiny", env=env)
        found = c.ttft("vllm") if len(c.points) == 2 else f"NO: {len(c.points)} points"
        self.row("vllm", "vLLM, targets by override", c, f"{len(c.points)} points with builtin's", found)

    def vllm_batches(self, url, model):
        """TensorRT-LLM's lists of batches and lengths."""
        c = self.collect("batch-vllm", url, "--only", "benchmarks", "--batch-size", "1;4",
                         "--input-output-len", "60,20;128,20", device="cpu", model="acme/tiny")
        self.row("builtin", "vLLM, batches and lengths", c, f"{len(c.points)} points", c.measured(4))

    def vllm_configuration(self, url, model):
        """An nm-vllm configuration with conversations of its own."""
        answer = {"from": "gpt", "value": "answer " * 20}
        talk = dump(f"{self.work}/talk.json", [
            {"conversations": [{"from": "human", "value": f"question {i} " + "the " * 40}, answer]} for i in range(60)])
        arguments = {"nr-qps-pair_": ["6,2", "8,4"], "dataset": ["sharegpt"], "dataset-path": [talk]}
        config = dump(f"{self.work}/serving.json", {"configs": [{
            "description": "VLLM Serving - Dense", "models": ["acme/tiny"], "max_model_lens": [2048], "sparsity": [],
            "script_name": "benchmark_serving", "script_args": arguments}]})
        c = self.collect("nm-vllm", url, "-i", config, "-o", "out", "--tokenizer", model, device="cpu", model="",
                         built=("out",))
        found = c.ttft("vllm") if len(c.points) == 2 else f"NO: {len(c.points)} points"
        self.row("vllm", "vLLM, an nm-vllm configuration", c, f"{len(c.points)} points", found)

    def docker(self):
        with servers.docker(self.work) as env:
            self.container("docker", env)

    def podman(self):
        with servers.podman(self.work) as env:
            self.container("podman", env)
            llama_flags.images(self, "podman", env)
            self.image()

    def image(self):
        """The image that .ci/image makes: the same twice, and it runs without a network."""
        made = [self.sh(f"{commands.ROOT}/.ci/image", "localhost/ttreport:test", env={"ENGINE": "podman"})
                for _ in range(2)]
        said = self.sh("podman", "run", "--rm", "--network=none", "localhost/ttreport:test", "version")
        found = "yes" if made[0] == made[1] and said.startswith("ttreport ") else f"NO: {made}, {said}"
        self.table.append(("image", "-", "podman", "one id of two builds", "-", found))
        if found != "yes":
            self.failed.append(f"image: {found}")

    def tools_image(self):
        """The image that .ci/image makes with the environment of a tool, on a Debian from packages: it finds the tool
        without a network."""
        begin, folder = time.monotonic(), self.folder("tools-image")
        servers.room(self.work, 3)
        with servers.podman(folder) as env:
            servers.debian(folder, "localhost/debian", env)
            self.sh(f"{commands.ROOT}/.ci/image", "localhost/tools", "inspect",
                    env={**env, "ENGINE": "podman", "BASE": "localhost/debian", "NETWORK": "host"})
            size = int(self.sh("podman", "image", "inspect", "--format", "{{.Size}}", "localhost/tools", env=env))
            said = self.sh("podman", "run", "--rm", "--network=none", "localhost/tools", "doctor", env=env, ok=False)
            self.sh("podman", "rmi", "-af", env=env)
        found = "yes" if re.search(r"^ok +inspect ", said, re.M) else f"NO: {said}"
        self.table.append(("image", "-", "podman, with inspect", f"{size / 1e6:.0f} MB",
                           f"{time.monotonic() - begin:.0f}", found))
        if found != "yes":
            self.failed.append(f"image with tools: {found}")

    def container(self, engine, env):
        """ttreport's simulator in an image of its own, started and ended by collect."""
        os.environ.update(env)
        root, image = self.folder("image"), "localhost/ttreport-sim:test"
        commands.build(root, flags=["-trimpath"], env={"CGO_ENABLED": "0"})  # as .ci/release does: it is cached
        self.sh("tar", "-C", root, "-cf", f"{self.work}/image.tar", ".")
        self.sh(engine, "import", "--change", 'ENTRYPOINT ["/ttreport"]', "--change",
                "LABEL org.opencontainers.image.revision=abc1234", f"{self.work}/image.tar", image)
        image = self.sh(engine, "image", "inspect", "--format", "{{.Id}}", image).strip()
        port = str(commands.port())
        c = self.collect(f"builtin-{engine}", "docker", "--container-engine", engine, "--image", image, "--port", port,
                         "--run-arg=--network=host", "--only", "benchmarks", "--workload", "isl=64,osl=16,c=2,n=8",
                         after=("sim", "--port", port))
        with open(glob.glob(f"{c.folder}/results/*/ttreport.manifest.yaml")[0]) as f:
            manifest = f.read()
        left = self.sh(engine, "ps", "-aq").strip()
        found = c.measured(1)
        if "abc1234" not in manifest or "sha256:" not in manifest or left:
            found = f"NO: containers left: {left!r}; the manifest ends with {manifest[-300:]}"
        self.row("builtin", f"{engine}: sim by image id", c, f"{len(c.points)} point", found)

    def slurm(self):
        begin = time.monotonic()
        out, wrong = slurm_story.story(self.ttreport, self.folder("slurm-cluster"))
        print(out)
        wrong = wrong or slurm_story.full(self.ttreport, self.folder("slurm-disk"))
        version = self.sh("slurmctld", "-V").split()[-1]
        self.table.append(("slurm", version, "4 nodes of its own", "12 jobs, 36 points once",
                           f"{time.monotonic() - begin:.0f}", f"NO: {wrong}" if wrong else "yes"))
        if wrong:
            self.failed.append(f"slurm: {wrong}")

    def kubernetes(self):
        begin = time.monotonic()
        out, wrong = kubernetes_story.story(self.ttreport, self.folder("kubernetes-cluster"))
        print(out)
        wrong = wrong or kubernetes_story.queue(self.ttreport, self.folder("kubernetes-queue"))
        self.table.append(("kubernetes", VERSION, "4 nodes of its own", "8 jobs, 14 points once",
                           f"{time.monotonic() - begin:.0f}", f"NO: {wrong}" if wrong else "yes"))
        begin = time.monotonic()
        peak, many = kubernetes_story.thousand(self.ttreport, self.folder("kubernetes-thousand"))
        self.table.append(("kubernetes", VERSION, "1,000 jobs", f"followed in {peak / 1e6:.0f} MB",
                           f"{time.monotonic() - begin:.0f}", f"NO: {many}" if many else "yes"))
        self.failed += [f"kubernetes: {w}" for w in (wrong, many) if w]

    def query(self, engine):
        """The queries of the page about Parquet, on the demo."""
        begin, folder = time.monotonic(), self.folder(f"export-{engine}")
        servers.room(self.work, 3)
        for argv in (["collect"], ["build"], ["export", "parquet", "warehouse"]):
            self.sh(self.ttreport, *argv, cwd=folder)
        ask = warehouse.trino if engine == "trino" else functools.partial(warehouse.queries, engine)
        found = ask(self.work, folder)
        self.table.append((engine, "-", "Parquet of the demo", "5 queries, the same rows",
                           f"{time.monotonic() - begin:.0f}", found))
        if found != "yes":
            self.failed.append(f"{engine}: {found}")

    def not_run(self, name, why):
        self.left.append((name, why))
        print(f"   did not run: {name}: {why}", flush=True)

    def step(self, name, run):
        begin, cpu = time.monotonic(), processor()
        try:
            run()
            self.ran.append((name, time.monotonic() - begin, processor() - cpu))
        except Skip as e:
            self.not_run(name, e)
        except commands.Unfetched as e:
            self.not_run(name, f"not to be had here: {str(e).strip().splitlines()[-1]}")
        except Exception as e:  # the other steps must run all the same
            print(f"   FAILED: {name}: {e}", flush=True)
            self.failed.append(f"{name}: {e}")

    def steps(self):
        """All steps in their order, each with the seconds that it takes on two quiet cores, installs included. Slurm's
        takes two seconds of a processor, and runs beside the others."""
        return {
            "slurm": (0, self.slurm), "exec": (5, self.exec), "duckdb": (60, lambda: self.query("duckdb")),
            "kubernetes": (290 if servers.kubernetes.built() else 430, self.kubernetes), "lm-eval": (20, self.lm_eval),
            "inspect": (20, self.inspect), "aiperf": (30, self.aiperf), "llama.cpp": (70, self.llama),
            "flags": (65, lambda: llama_flags.run(self)),
            "docker": (50, self.docker), "podman": (135, self.podman), "guidellm": (80, self.guidellm),
            "spark": (90, lambda: self.query("spark")), "trino": (60, lambda: self.query("trino")),
            "image": (120, self.tools_image), "vllm": (700, self.vllm),
            "searches": (400, lambda: llama_flags.searches(self))}

    def print(self):
        print(f"\n{'tool':<10} {'version':<12} {'server':<30} {'found':<26} {'s':>5}  read back equal")
        for tool, version, server, what, seconds, same in self.table:
            print(f"{tool:<10} {version:<12} {server:<30} {what:<26} {seconds:>5}  {same}")
        print("\n" + "\n".join(f"{s:>6.0f} s, {cpu:>4.0f} s of CPU  {name}" for name, s, cpu in self.ran))
        for name, why in self.left:
            print(f"NOT RUN: {name}: {why}")
        for wrong in self.failed:
            print(f"FAILED: {wrong}")


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--only", default="", help="names of steps, with commas")
    ap.add_argument("--until", type=float, default=1e9, help="leave out steps that would end after so many seconds")
    options = ap.parse_args()
    only, begin = [n for n in options.only.split(",") if n], time.monotonic()
    commands.clean_up_when_ended()
    work = tempfile.mkdtemp(prefix="ttreport-real-")
    try:
        runs = Runs(work)
        if unknown := set(only) - set(runs.steps()):
            sys.exit(f"no such step: {', '.join(sorted(unknown))}; there are {', '.join(runs.steps())}")
        steps = {name: of for name, of in runs.steps().items() if not only or name in only}
        if "kubernetes" in steps:
            servers.kubernetes.prepare()
        slow, planned, beside = 1, 0, threading.Thread(target=runs.step, args=("slurm", runs.slurm))
        for name, (takes, run) in steps.items():
            passed = time.monotonic() - begin
            if passed + slow * takes > options.until:
                runs.not_run(name, f"it takes {slow * takes:.0f} s, and {passed:.0f} s were over")
                continue
            print(f"-- {name} ({time.monotonic() - begin:.0f} s)", flush=True)
            if name == "slurm":
                beside.start()
                continue
            runs.step(name, run)
            planned += takes
            slow = max(1, (time.monotonic() - begin + 100) / (planned + 100))  # the first steps say little
        if beside.ident:
            beside.join()
        runs.print()
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(f"{time.monotonic() - begin:.0f} s; {len(runs.table)} runs, {len(runs.failed)} failed")
    return 1 if runs.failed else 0


if __name__ == "__main__":
    sys.exit(main())
