#!/usr/bin/env python3
"""Writes what three pictures of the README show: samples.py OUT

OUT/nightly gets a history of nightly builds with their commits, OUT/compare rows of InferenceX of three devices without
a release, OUT/evals results of lm-eval of six models; `ttreport build` in each of them makes its site. Every number,
device and model is invented, and the titles of the sites say so. The same bytes each time.
"""
import hashlib, json, math, os, random, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "measure"))
import gen_history  # noqa: E402

NIGHTS, SLOWER_SINCE, SLOWER = 40, 38, 1.12
DEVICES = (  # name, engine, chips, ms of a step, ms a sequence in it, ms a prompt token
    ("dev-a", "vllm", 8, 7.0, .085, .020), ("dev-b", "vllm", 8, 9.5, .050, .016),
    ("dev-c", "sglang", 4, 12.0, .160, .034))
TASKS = (("gsm8k", "exact_match,strict-match", 1319, 5), ("arc_challenge", "acc_norm,none", 1172, 25),
         ("hellaswag", "acc_norm,none", 10042, 10), ("winogrande", "acc,none", 1267, 5), ("ifeval", "acc,none", 541, 0))
MODELS = (("base-8b", 0), ("base-8b-fp8", -.006), ("base-8b-int4", -.034), ("tuned-8b", .041), ("small-3b", -.13),
          ("large-30b", .088))


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text if isinstance(text, str) else json.dumps(text, indent=1))


def nightly(out):
    """40 nights of two models on two devices; one model gets slower on one device, and stays so."""
    rnd, systems = random.Random(7), []
    for m in range(2):
        for d in range(2):
            workloads = [w[:6] + (m == 0 and d == 1 and w[0] > 200,) for w in gen_history.series(rnd, 6)]
            systems.append((m, d, workloads))
    gen_history.SLOWER = SLOWER
    for r in range(NIGHTS):
        commit = hashlib.sha1(str(r).encode()).hexdigest()
        for m, d, workloads in systems:
            points = [gen_history.point(rnd, w, r >= SLOWER_SINCE, f"night-{r}") for w in workloads]
            doc = gen_history.document(m, d, r, points)
            day = doc["start"][:10]
            doc.update(start=day + "T01:30:00Z", end=day + "T02:10:00Z", release=f"{day} {commit[:7]}", channel="main")
            doc["stack"].update(commits={"engine": commit})
            write(f"{out}/history/{doc['model']['key']}/dev{d}/{doc['id']}.json", doc)
    write(f"{out}/ttreport.yaml", "title: Invented nights\nsite:\n  mode: nightly\n"
          "  compare_url: https://github.com/acme/engine/compare/{from}...{to}\n")


def row(device, isl, osl, load):
    """One row of a device at a concurrency: steps get longer with what runs in them, prompts wait for each other."""
    name, engine, chips, step, sequence, token = device
    tpot = step + sequence * load * (1 + isl / 8192) + .35 * token * isl * load / osl
    ttft = token * isl * (1 + .22 * math.sqrt(load)) + step
    e2el = ttft + tpot * (osl - 1)
    output = load * osl * 1000 / e2el
    out = {"hw": name, "framework": engine, "precision": "fp8", "model": "acme/big-70b", "tp": chips, "ep": 1,
           "isl": isl, "osl": osl, "conc": load, "output_tput_per_gpu": round(output / chips, 3),
           "tput_per_gpu": round(output * (isl + osl) / osl / chips, 3)}
    for metric, ms in (("ttft", ttft), ("tpot", tpot), ("e2el", e2el)):
        out |= {f"mean_{metric}": round(ms / 1000, 6), f"median_{metric}": round(ms / 1010, 6),
                f"p99_{metric}": round(ms / 800, 6)}
    return out


def compare(out):
    """Three devices with one model, by concurrency and by length of the prompts."""
    rows = [row(d, isl, 1024, load) for d in DEVICES for isl in (1024, 8192) for load in (1, 4, 8, 16, 32, 64, 128)]
    write(f"{out}/results/agg_sample.json", rows)
    write(f"{out}/ttreport.yaml", "title: Invented devices\n"
          "prices: {currency: USD, per_chip_hour: {dev-a: 2.6, dev-b: 3.4, dev-c: 1.1}}\n")


def evals(out):
    """Six models with five tasks; the small one has no ifeval."""
    rnd = random.Random(3)
    for name, better in MODELS:
        doc = {"results": {}, "configs": {}, "n-shot": {}, "n-samples": {}, "versions": {}, "date": 1767225600.0,
               "config": {"model": "local-completions", "model_args": f"model=acme/{name}"},
               "model_name": f"acme/{name}", "model_source": "local-completions", "lm_eval_version": "0.4.9"}
        for task, metric, n, shots in TASKS[:4 if name == "small-3b" else 5]:
            p = round(n * min(.97, .62 + better + rnd.uniform(-.02, .02))) / n
            stderr = metric.replace(",", "_stderr,")
            doc["results"][task] = {"alias": task, metric: p, stderr: math.sqrt(p * (1 - p) / (n - 1))}
            doc["configs"][task] = {"task": task, "num_fewshot": shots, "output_type": "multiple_choice"}
            doc["n-shot"][task], doc["versions"][task] = shots, 1.0
            doc["n-samples"][task] = {"original": n, "effective": n}
        write(f"{out}/results/acme__{name}/results_2026-01-01T00-00-00.000000.json", doc)
    write(f"{out}/ttreport.yaml", "title: Invented evals\nreference: {model: base-8b}\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for make in (nightly, compare, evals):
        make(os.path.join(sys.argv[1], make.__name__))
