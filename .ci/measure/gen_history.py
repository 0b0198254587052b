#!/usr/bin/env python3
"""Writes a large history: gen_history.py OUT MODELS DEVICES WORKLOADS RELEASES [SEED]

OUT becomes a history folder of ttreport/v1 documents, one for each model, device and release. It holds MODELS x DEVICES
x WORKLOADS x 4 series (mean TTFT, TPOT and E2EL, output throughput); WORKLOADS is 24 at most. Sizes in use: 25 5 20 50
(10^4 series x 50 releases, 6,250 documents) and 250 5 20 10 (10^5 x 10). Noise is 1 to 3 % a series; 2 % of the
workloads get 10 % slower two thirds of the way, and OUT.truth.json lists them. The same seed writes the same bytes.
"""
import json, os, random, sys

SHAPES = ((128, 128), (128, 1024), (1024, 128), (2048, 128), (8192, 128), (16384, 128))
WORKLOADS = [(isl, osl, c) for c in (1, 8, 16, 32) for isl, osl in SHAPES]
CHANGED, SLOWER = .02, 1.10


def series(rnd, count):
    """Draws the true means, the noise and whether it changes for each workload of one model and device."""
    out = []
    for isl, osl, c in WORKLOADS[:count]:
        tpot, ttft = rnd.uniform(8, 60), isl * rnd.uniform(.05, .5) + 20
        changed = rnd.random() < CHANGED
        out.append((isl, osl, c, ttft, tpot, rnd.uniform(.01, .03), changed))
    return out


def latency(mean, spread):
    return {"unit": "ms", "mean": round(mean, 4), "median": round(mean * .99, 4), "std": round(mean * spread, 4),
            "p99": round(mean * (1 + 3 * spread), 4)}


def point(rnd, workload, late, path):
    """Measures one workload in one release."""
    isl, osl, c, ttft, tpot, noise, changed = workload
    factor = SLOWER if changed and late else 1.0
    a, b = ttft * factor * (1 + rnd.gauss(0, noise)), tpot * factor * (1 + rnd.gauss(0, noise))
    e2el = a + b * (osl - 1)
    return {
        "key": {"task": "text", "tool": "vllm", "isl": isl, "osl": osl, "concurrency": c, "rate": None,
                "dataset": "random"},
        "status": "ok",
        "metrics": {"ttft": latency(a, .05), "tpot": latency(b, .04), "e2el": latency(e2el, .03),
                    "output_tps": {"unit": "tok/s", "value": round(c * osl * 1000 / e2el, 4)},
                    "requests_ok": {"unit": "req", "value": 8 * c}},
        "source": {"path": f"{path}-{isl}-{osl}-{c}.json", "sha256": "0" * 64, "format": "vllm-serve"},
    }


def document(m, d, r, points):
    """One run: model m on device d in release r. A release is a day after the one before."""
    name = f"model-{m:03d}-instruct"
    day = f"20{24 + r // 336:02d}-{r // 28 % 12 + 1:02d}-{r % 28 + 1:02d}T00:00:00Z"
    return {
        "schema": "ttreport/v1", "id": f"m{m:03d}-d{d}-r{r:03d}", "start": day, "end": day, "release": f"v0.{r}.0",
        "model": {"id": f"vendor/{name}", "name": name, "key": name}, "device": {"name": f"dev{d}"},
        "stack": {"engine": "vllm", "version": f"0.{r}.0"}, "points": points, "scores": [], "targets": [],
        "provenance": {}, "problems": [],
    }


def main(out, models, devices, workloads, releases, seed=1):
    rnd, changed = random.Random(seed), []
    for m in range(models):
        for d in range(devices):
            folder = f"{out}/model-{m:03d}-instruct/dev{d}"
            os.makedirs(folder, exist_ok=True)
            drawn = series(rnd, workloads)
            changed += [[f"vendor/model-{m:03d}-instruct", f"dev{d}", *w[:3]] for w in drawn if w[-1]]
            for r in range(releases):
                late = r >= releases * 2 // 3
                doc = document(m, d, r, [point(rnd, w, late, f"raw/{m}-{d}-{r}") for w in drawn])
                with open(f"{folder}/{doc['id']}.json", "w") as f:
                    json.dump(doc, f, sort_keys=True)
    with open(f"{out}.truth.json", "w") as f:
        json.dump(changed, f)


if __name__ == "__main__":
    if len(sys.argv) not in (6, 7):
        sys.exit(__doc__)
    main(sys.argv[1], *map(int, sys.argv[2:]))
