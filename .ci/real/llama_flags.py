"""The flags around a measurement on llama.cpp's own server: what came out is checked, not only that it ended well. What
one workload states is in llama_fields.py."""
import glob, json, os, re, subprocess, sys, time

import commands, llama_fields, servers
from collected import load

ONE = "isl=16,osl=48,c=1,n=12"
TRIES = 4  # of requests that a busy machine sent late
SLOW = 16  # layers of a model that takes several times as long as the usual one


class Flags:
    """What was tried, by name, and what was wrong of it."""

    def __init__(self, runs):
        self.runs, self.tried, self.wrong = runs, 0, []
        self.command = servers.llama(runs.work, "acme/tiny")
        os.environ.pop("OPENAI_API_KEY", None)

    def note(self, name, wrong):
        self.tried += 1
        if wrong:
            self.wrong.append(f"{name}: {wrong}")
            print(f"   WRONG: {name}: {wrong}", flush=True)

    def started(self, *more, **of):
        """--server and --port for a server that collect starts; of: what its model is like."""
        port = commands.port()
        return f"command {self.command(port, *more, **of)}", "--port", str(port)

    def collect(self, name, server, *more, release="v1", env=None):
        return self.runs.collect(f"flags-{name}", *server, "--only", "benchmarks", *more, device="cpu",
                                 model="acme/tiny", tokenized=False, release=release, env=env)

    def told(self, name, *argv, env=None, ok=True):
        """What a command prints in the folder of a collection."""
        return self.runs.sh(self.runs.ttreport, *argv, cwd=self.runs.folder(f"flags-{name}"), env=env, ok=ok)

    def bisect(self, name, what, finds, *argv, env=None):
        """A search that must find a build, which it cannot on a machine that is too busy to measure one."""
        begin, folder = time.time(), self.runs.folder(f"flags-{name}")
        said = self.runs.sh(self.runs.ttreport, "bisect", *argv, cwd=folder, env=env, ok=False)
        if not all(x in said for x in finds) and self.runs.busy(folder, begin):
            raise servers.Skip(f"{what}: {servers.BUSY}")
        self.note(what, "" if all(x in said for x in finds) else said)

    def fields(self):
        """Every field of a workload, on one server."""
        llama_fields.files(self.runs.folder("flags-fields"))
        texts = [x for text, _ in llama_fields.FIELDS.values() for x in ("--workload", text)]
        c = self.collect("fields", self.started(), *texts)
        found = c.results(len(llama_fields.FIELDS))
        self.note("points", "" if len(found) == len(llama_fields.FIELDS) else f"{len(found)} of {len(texts) // 2}")
        for (name, (text, check)), (result, side) in zip(llama_fields.FIELDS.items(), found):
            for attempt in range(TRIES):
                if attempt:
                    print(f"   {name} again: this machine sent requests late, {wrong}", flush=True)
                    again = self.collect("fields", self.started(), "--workload", text, release=f"{name}{attempt}")
                    result, side = again.results(1)[0]
                wrong = check(result, side)
                if not wrong or not llama_fields.late(side):
                    self.note(name, wrong)
                    break
            else:
                self.runs.not_run(f"check of {name}", f"this machine sent requests late, {TRIES} times")
        rows = [row for _, side in found for row in side.get("samples", {}).get("rows", ())]
        ran = any(row[1] > 0 for row in rows)
        self.note("gauges by time", "" if ran else f"no request runs in {len(rows)} readings")
        slices = [p for f in glob.glob(f"{c.folder}/history/**/*.json", recursive=True) for p in load(f)["points"]
                  if p.get("slices")]
        self.note("slices by time", "" if slices else "no point of history has any")

    def key(self):
        """A server that wants a key gets it from the environment or .env; no file has it."""
        key, folder = "sk-" + os.urandom(12).hex(), self.runs.folder("flags-key")
        server = self.started("--api-key", key)
        c = self.collect("key", server, "--workload", ONE, env={"OPENAI_API_KEY": key})
        self.note("a key of the environment", self.keyed(c, key))
        with open(f"{folder}/.env", "w") as f:
            f.write(f"OPENAI_API_KEY={key}\n")
        os.chmod(f"{folder}/.env", 0o600)
        c = self.collect("key", self.started("--api-key", key), "--workload", ONE, release="v2")
        os.remove(f"{folder}/.env")
        self.note("a key of .env", self.keyed(c, key))
        said = self.told("key", "collect", "--model", "acme/tiny", "--device", "cpu", "--server", *server, ok=False)
        self.note("no key", "" if "denies access" in said and "set OPENAI_API_KEY" in said else said[-300:])

    @staticmethod
    def keyed(c, key):
        found = c.measured(1)
        return found if found != "yes" else "a file has the key" if c.has(key) else ""

    def endpoints(self):
        """Reasoning before an answer, and vectors."""
        c = self.collect("thinks", self.started("--think", "8"), "--workload", "endpoint=chat,isl=64,osl=64,c=2,n=8",
                         "--workload", "endpoint=responses,isl=64,osl=64,c=2,n=8")
        for name, (r, _) in zip(("reasoning of chat", "reasoning of responses"), c.results(2)):
            later = all(b > a for a, b in zip(r["ttfts"], r.get("ttfos", ())))
            fine = r["completed"] == 8 and len(r.get("ttfos", ())) == 8 and later
            self.note(name, "" if fine else f"TTFT {r['ttfts']}, TTFO {r.get('ttfos')}")
        c = self.collect("embeds", self.started("--embed"), "--workload", "endpoint=embeddings,isl=128,c=2,n=16")
        r = c.results(1)[0][0]
        fine = r["completed"] == 16 and r["total_input_tokens"] == 16 * 128 and "mean_ttft_ms" not in r
        self.note("embeddings", "" if fine else str(r)[:300])
        self.calls()
        self.pictures()

    def calls(self):
        """Calls of functions, of which llama.cpp makes a grammar; without a template for them, no answer is a call."""
        asked = [x for at in ("chat", "responses") for x in (
            "--workload", f"endpoint={at},tools=2,tool_choice=required,isl=700,osl=96,c=2,n=8")]
        c = self.collect("calls", self.started("--calls", liked="{"), *asked)
        for name, (r, side) in zip(("calls in chat", "calls in responses"), c.results(2)):
            fine = r["completed"] == 8 and side["client"]["tools_called"] == "8"
            streamed = min(map(len, r["itls"])) >= 3
            fine = fine and streamed and set(r["output_lens"]) == {96} and set(r["input_lens"]) == {700}
            self.note(name, "" if fine else f"{r['errors']}, {side['client']}, ISL {r['input_lens']}")
        said = self.told("calls", "collect", "--model", "acme/tiny", "--device", "cpu", "--server", *self.started(),
                         "--only", "benchmarks", *asked[:2], ok=False)
        self.note("no calls", "" if "calls no tool" in said else said[-300:])

    def pictures(self):
        """Pictures as data URLs, whose tokens are part of ISL; a server without a projector says that it reads none."""
        folder = self.runs.folder("flags-pictures")
        python = self.command(0).split()[0]
        self.runs.sh(python, f"{servers.HERE}/tiny_projector.py", f"{folder}/projector.gguf")
        workload = ("--workload", "endpoint=chat,image=64x64,isl=64,osl=8,c=2,n=8")
        sees = self.started("--pictures", f"{folder}/projector.gguf")
        r, side = self.collect("pictures", sees, *workload).results(1)[0]
        fine = r["completed"] == 8 and set(r["input_lens"]) == {64} and side["workload"]["task"] == "vlm"
        said = self.told("pictures", "collect", "--model", "acme/tiny", "--device", "cpu", "--server", *self.started(),
                         "--only", "benchmarks", *workload, ok=False)
        fine = fine and "failed: HTTP 500" in said and "mmproj" in said
        self.note("pictures", "" if fine else f"{r['errors']}, ISL {r['input_lens']}; none: {said[-300:]}")

    def budget(self):
        """A time for all, of which each has its share; what was not reached is kept with the point and is a lint."""
        c = self.collect("budget", self.started(), "--until", "ci=1%,tail=p90,most=5m", "--budget", "2s",
                         "--workload", "isl=64,osl=16,c=1", "--workload", "isl=64,osl=32,c=4")
        sides = [side for _, side in c.results(2)]
        fine = len(sides) == 2 and all(
            s["conditions"]["window"] == "steady" and s["conditions"]["until"] == "ci=1%,tail=p90,most=5m0s" and
            float(s["client"].get("ci_ttft", 100)) > 1 for s in sides)
        self.note("--budget", "" if fine and c.has("imprecise") else f"{[s['client'] for s in sides]}")
        c = self.collect("clients", self.started(), "--clients", "2", "--repeat", "2", "--seed", "7",
                         "--workload", "isl=64,osl=16,c=4,n=32")
        made = [(r["completed"], s["client"].get("clients"), s["conditions"]["seed"]) for r, s in c.results(2)]
        self.note("--clients --repeat --seed", "" if made == [(32, "2", "7"), (32, "2", "8")] else str(made))

    def images(self, engine, env):
        """An image against another one until it is known: llama.cpp from this machine's files, of two sizes."""
        port, old, new = str(commands.port()), "localhost/llama:old", "localhost/llama:new"
        self.make(engine, env, port, {old: 2, new: SLOW})
        server = ("docker", "--image", new, "--port", port, *self.mounts(engine))
        self.collect(engine, server, "--against", old, "--against-release", "v1", "--blocks", "2",
                     "--until", "ci=30%,most=1s", "--workload", "isl=16,osl=48,c=1", release="v2", env=env)
        self.note("--against IMAGE --until", self.paired(engine, "fresh", "1221"))
        self.nightlies(engine, env)
        left = self.runs.sh(engine, "ps", "-aq", env=env).strip()
        self.note("containers that are left", left)

    def make(self, engine, env, port, images):
        """Images by name, each with a model of so many layers; their files are this machine's."""
        folder = self.runs.folder(f"flags-{engine}")
        if not os.path.exists(f"{folder}/root.tar"):
            for name in ("usr", "tmp"):
                os.makedirs(f"{folder}/root/{name}", exist_ok=True)
            for name in ("bin", "lib", "lib64"):
                os.symlink(f"usr/{name}", f"{folder}/root/{name}")
            self.runs.sh("tar", "-C", f"{folder}/root", "-cf", f"{folder}/root.tar", ".")
        for image, layers in images.items():
            runs = "ENTRYPOINT " + json.dumps(self.command(port, layers=layers).split())
            self.runs.sh(engine, "import", "--change", runs, "--change", f"LABEL name={image}", f"{folder}/root.tar",
                         image, env=env)

    def mounts(self, engine):
        kept = {"/usr", sys.base_prefix, servers.HERE, self.runs.work}
        return ("--container-engine", engine, "--run-arg=--network=host",
                *(f"--volume={path}:{path}:ro" for path in sorted(kept)))

    def nightlies(self, engine, env):
        """The first slow one of a registry's nightlies, which are pulled from it."""
        port = str(commands.port())
        with servers.registry(self.runs.folder("registry")) as (address, settings):
            env = {**env, **settings}
            tags = {f"{address}/acme/server:nightly-202601{day:02}": layers
                    for day, layers in ((9, 2), (10, 2), (11, SLOW), (12, SLOW))}
            self.make(engine, env, port, tags)
            for image in tags:
                self.runs.sh(engine, "push", "-q", image, env=env)
                self.runs.sh(engine, "rmi", image, env=env)
            self.bisect(engine, "bisect --images --least", ["nightly-20260111 is the first bad build"],
                        "--images", f"{address}/acme/server", "--tags", "nightly-*", "--port", port,
                        *self.mounts(engine), "--model", "acme/tiny", "--device", "cpu", "--workload", ONE,
                        "--metric", "tpot", "--least", "20%", "--error", "5%", env=env)

    def pairs(self):
        """A slow model against the usual one: a command until it is known, and the release of it with both running."""
        old = self.started()
        self.collect("pairs", self.started(layers=SLOW), "--against", old[0], "--against-port", old[2],
                     "--against-release", "v1", "--blocks", "2", "--until", "ci=30%,most=1s", "--workload",
                     "isl=16,osl=48,c=1", release="v2")
        self.note("--against COMMAND --until", self.paired("pairs", "fresh", "1221"))
        self.collect("pairs", self.started(layers=SLOW), "--against", "v1", "--live", "--blocks", "3",
                     "--workload", ONE, release="v3")
        self.note("--against RELEASE --live --blocks", self.paired("pairs", "kept", "122112"))
        said = self.told("pairs", "compare", "v1", "v2")
        change = re.search(r"TPOT mean .* [+]([\d,.]+).% ", said)
        blocks = re.search(r"from \d+ blocks", said)  # a busy machine has one measured again
        self.note("compare in turns", "" if change and blocks else said)
        self.releases()

    def addresses(self):
        """Two servers that run already, in turns."""
        ports, running = [commands.port(), commands.port()], []
        try:
            for port, layers in zip(ports, (2, SLOW)):
                argv = self.command(port, layers=layers).split()
                running.append(subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            old, new = (f"http://127.0.0.1:{port}" for port in ports)
            self.collect("addresses", (new,), "--against", old, "--against-release", "v1", "--blocks", "2",
                         "--until", "ci=30%,most=1s", "--workload", "isl=16,osl=48,c=1", release="v2")
        finally:
            for server in running:
                commands.end(server)
        self.note("--against URL", self.paired("addresses", "kept", "1221"))

    def paired(self, name, starts, order):
        """What is wrong of the newest pair: how servers started, and the order of the turns, 1 for the baseline."""
        runs = sorted(glob.glob(f"{self.runs.folder(f'flags-{name}')}/results/*"), key=os.path.getmtime)[-2:]
        turns = []
        for run in runs:
            with open(f"{run}/ttreport.manifest.yaml") as f:
                text = f.read()
            if f"starts: {starts}" not in text or not any(f"with: {os.path.basename(r)}" in text for r in runs):
                return f"the manifest of {run} has no pair: {text[-400:]}"
            side = "1" if "side: baseline" in text else "2"
            turns += [(s["start"], side, s["block"]) for s in map(load, glob.glob(f"{run}/raw/*.ttreport.json"))]
        turns.sort()
        found = "".join(side for _, side, _ in turns)
        blocks = [block for *_, block in turns]
        if found != order or blocks != sorted(blocks) or len(set(blocks)) != len(order) // 2:
            return f"turns {found} of blocks {blocks}, expected {order}"
        return ""

    def bisections(self):
        """Commits with a build, stopped and resumed; the releases of pairs; commands of a list; an improvement."""
        folder, port = self.runs.folder("flags-bisect"), str(commands.port())
        python = self.command(port).split()[0]
        steps = [f"layers {n} in {i}" for i, n in enumerate((2, 2, SLOW, SLOW))]
        git = "git -c user.email=a@example.org -c user.name=a"
        self.runs.sh("sh", "-ec", f"mkdir repo; cd repo; git init -q; for s in {' '.join(map(repr, steps))}; do "
                     f'echo "$s" >step; git add .; {git} commit -qm "$s"; done', cwd=folder)
        make = f"{python} {servers.HERE}/tiny_gguf.py model.gguf $(cut -d' ' -f2 step)"
        serve = f"{python} {servers.HERE}/llama_server.py {{dir}}/model.gguf {port} acme/tiny"
        common = ("--model", "acme/tiny", "--device", "cpu", "--workload", ONE, "--metric", "tpot", "--port", port)
        commits = ("--repo", "repo", "--good", "HEAD~3", "--bad", "HEAD", "--build", make, "--server", serve,
                   *common, "--least", "20%", "--error", "5%", "--out", "commits")
        self.bisect("bisect", "bisect --measurements", ["Not decided: 2 measurements"], *commits, "--measurements", "2")
        self.bisect("bisect", "bisect of commits, resumed",
                    ["2 measurements were made before", steps[2], "is the first bad build"],
                    *commits, "--budget", "10m")
        with open(f"{folder}/list.txt", "w") as f:
            f.writelines(f"command {self.command(port, layers=n)}\n" for n in (SLOW, 2))
        self.bisect("bisect", "bisect --list --improved", ["is the first bad build"],
                    "--list", "list.txt", "--improved", *common, "--error", "5%")

    def releases(self):
        """The release of the pairs that was slow first, and what a verdict shows."""
        self.bisect("pairs", "bisect of releases", ["v2 is the first bad build"], "--good", "v1", "--bad", "v2",
                    "--model", "acme/tiny", "--device", "cpu", "--workload", ONE, "--metric", "tpot", "--error", "5%")
        found = re.search(r'"id": ?"(\w+)"(?:(?!"id").)*?"metric": ?"tpot"',
                          self.told("pairs", "check", "--release", "v2", "--format", "json", ok=False), re.S)
        self.bisect("pairs", "bisect VERDICT", ["v2 is the first bad build"], found[1], "--error", "5%")

    def capacity(self):
        """The largest concurrency and the largest rate, with the goodput: what holds is next to what does not,
        each seen twice. On a machine that does something else meanwhile a search takes several times as long."""
        for workload, metric, load_of in (("isl=64,osl=64,slo=ttft_mean<30ms", "capacity", "concurrency"),
                                          ("isl=64,osl=32,rate=max,slo=ttft_mean<60ms", "capacity_rps", "rate")):
            c = self.collect(metric, self.started("--forget"), "--workload", workload)
            r, _ = c.results(1)[0]
            holds, fails = r["holds"], r["fails"]
            at = [p[load_of] for p in r["probes"]]
            wrong = "" if holds < fails <= max(holds + 1, 1.021 * holds) else f"holds at {holds}, not at {fails}"
            if r["metrics"][metric]["value"] != holds or min(at.count(holds), at.count(fails)) < 2:
                wrong = wrong or f"{metric} {r['metrics'][metric]}, measured at {at}"
            good = r["metrics"]["goodput_rps"]["value"]
            if not 0 < good or load_of == "rate" and good > 1.1 * holds:
                wrong = wrong or f"goodput {good} at {holds}"
            self.note(f"--slo, {load_of}", wrong)

    def presets(self):
        """Every preset of drawn lengths: nothing is refused, since draws fit the server's 8,192 tokens."""
        for name in ("chat", "code", "rag", "summarise", "agent"):
            server = self.started("--slots", "1", layers=1)
            found = self.collect(name, server, "--sweep", name, "--until", "ci=50%,most=1s").results(3)
            wrong = [r["errors"] for r, _ in found if r["failed"] or max(r["input_lens"]) + 1 > 8192]
            streams = [side["workload"]["concurrency"] for _, side in found]
            self.note(f"--sweep {name}", "" if streams == [1, 8, 32] and not wrong else f"{streams}: {wrong}"[:300])


def run(runs):
    """What takes seconds, as a row of the table."""
    flags = Flags(runs)
    row(flags, "each flag", (flags.fields, flags.key, flags.endpoints, flags.budget, flags.pairs,
                             flags.bisections, flags.addresses))


def searches(runs):
    """What takes minutes."""
    flags = Flags(runs)
    row(flags, "searches and presets", (flags.capacity, flags.presets))


def images(runs, engine, env):
    """Needs an engine that runs."""
    flags = Flags(runs)
    row(flags, f"images of {engine}", (lambda: flags.images(engine, env),))


def row(flags, what, checks):
    begin = time.monotonic()
    for check in checks:
        try:
            check()
        except servers.Skip as e:
            flags.runs.not_run(f"{what}, {check.__name__}", e)
    found = "NO: " + "; ".join(flags.wrong) if flags.wrong else "yes"
    flags.runs.table.append(("builtin", "-", f"llama.cpp, {what}", f"{flags.tried} checks",
                             f"{time.monotonic() - begin:.0f}", found[:200]))
    flags.runs.failed += [f"{what}: {w}" for w in flags.wrong]
