#!/usr/bin/env python3
"""Writes release artifacts of the shape that tt-inference-server publishes: gen_release_zips.py OUT RELEASES PAIRS

OUT gets a zip a release, vX.Y.Z-release_artifacts.zip, and in it a zip for each of PAIRS models and devices,
workflow_logs_release_MODEL_DEVICE.zip: a runtime model spec, nineteen benchmarks, three evals, a server's log. The
numbers are invented and the same every time. It prints how many points and scores a reader must find.
"""
import io, json, os, random, sys, zipfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
import gen_workflow_logs as tree

LENGTHS = [(128, 128), (128, 1024), (1024, 128), (2048, 128), (4096, 128), (8192, 128), (8192, 1024), (10000, 1024),
           (16384, 128)]
WORKLOADS = [(i, o, 1, 8) for i, o in LENGTHS] + [(i, o, 16, 64) for i, o in LENGTHS] + [(128, 128, 32, 256)]
EVALS = {**tree.EVALS, "example_gpqa": ("acc,none", .42, 198)}
DEVICES = ["n150", "n300", "t3k", "galaxy", "p150"]


def noisy(doc, rng):
    factor = rng.gauss(1, .01)
    return {k: v * factor if k.endswith("_ms") else v for k, v in doc.items()}


def bundle(model, device, month, rng):
    """The files of one model on one device."""
    tree.MODEL, tree.DEVICE = model, device
    tree.ID, tree.HF = f"id_tt-transformers_{model}_{device}", f"example/{model}"
    day = f"{2022 + month // 12}-{month % 12 + 1:02d}-20"
    spec = json.loads(json.dumps(tree.spec()).replace('"0.9.0"', f'"0.{month + 1}.0"'))
    yield f"runtime_model_specs/runtime_model_spec_{day}_10-00-00_{tree.ID}_abc.json", spec
    for i, (isl, osl, c, n) in enumerate(WORKLOADS):
        doc = noisy(tree.benchmark("openai-chat", isl, osl, c, n, i + 3), rng)
        doc["date"] = f"{day.replace('-', '')}-10{i + 3:02d}00"
        at = f"{day}_10-{i + 3:02d}-00"
        yield f"benchmarks_output/benchmark_{tree.ID}_{at}_isl-{isl}_osl-{osl}_maxcon-{c}_n-{n}.json", doc
    for i, (task, (metric, value, n)) in enumerate(EVALS.items()):
        doc = tree.eval_result(task, metric, round(value * n + rng.gauss(0, 2)) / n, n)
        doc["date"] = 1.6e9 + 2.6e6 * month + rng.random() * 1e6  # no two results have the same bytes
        yield f"evals_output/eval_{tree.ID}/example__{model}/results_{day}T12-0{i}-00.000000.json", doc
    yield f"docker_server/vllm_{day}_10-00-00_{model}_{device}_release.log", "ready\n" * 200


def main(out, releases, pairs):
    os.makedirs(out, exist_ok=True)
    rng = random.Random(1)
    for r in range(releases):
        with zipfile.ZipFile(os.path.join(out, f"v0.{r + 1}.0-release_artifacts.zip"), "w") as outer:
            for p in range(pairs):
                model, device = f"Example-{p // len(DEVICES) + 1}B-Instruct", DEVICES[p % len(DEVICES)]
                inner = io.BytesIO()
                with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as z:
                    for name, doc in bundle(model, device, r, rng):
                        z.writestr(name, doc if isinstance(doc, str) else json.dumps(doc))
                outer.writestr(f"workflow_logs_release_{model}_{device}.zip", inner.getvalue())
    print(f"{releases * pairs * len(WORKLOADS)} points, {releases * pairs * len(EVALS)} scores")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
