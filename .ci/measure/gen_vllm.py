#!/usr/bin/env python3
"""Writes many small result files: gen_vllm.py OUT N

OUT/results gets N results of `vllm bench serve` of about 1.5 kB, as vLLM's nightly benchmarks upload them, each with
its .commands file that names the accelerator. The same N writes the same bytes. The values are random: good for timing
a reader, for nothing else.
"""
import json, os, random, sys


def result(rnd, i):
    doc = {
        "date": "20260101-000000", "backend": "vllm", "model_id": f"m{i % 50}", "tokenizer_id": "t", "num_prompts": 100,
        "request_rate": "inf", "burstiness": 1.0, "max_concurrency": i % 64 + 1, "duration": rnd.random() * 100,
        "completed": 100, "total_input_tokens": 12800, "total_output_tokens": 12800,
        "request_throughput": rnd.random() * 10,
        "request_goodput:": None,  # the colon is vLLM's
        "output_throughput": rnd.random() * 1000, "total_token_throughput": rnd.random() * 2000,
    }
    for metric in ("ttft", "tpot", "itl", "e2el"):
        for stat in ("mean", "median", "std", "p50", "p90", "p95", "p99"):
            doc[f"{stat}_{metric}_ms"] = rnd.random() * 500
    return doc


def main(out, n):
    rnd = random.Random(1)
    os.makedirs(f"{out}/results", exist_ok=True)
    for i in range(n):
        with open(f"{out}/results/serving_{i:06d}.json", "w") as f:
            json.dump(result(rnd, i), f)
        with open(f"{out}/results/serving_{i:06d}.commands", "w") as f:
            json.dump({"gpu_type": "N150\nN150"}, f)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[2]))
