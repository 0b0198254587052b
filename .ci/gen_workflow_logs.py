#!/usr/bin/env python3
"""Writes a small tree of the shape that tt-inference-server leaves: gen_workflow_logs.py OUT

OUT/workflow_logs gets a runtime model spec with targets, twelve benchmarks of three tools and two evals. The numbers
are invented and the same every time. It prints how many points and scores a reader must find.
"""
import json, os, sys

MODEL, DEVICE = "Example-8B-Instruct", "n150"
ID, HF = f"id_tt-transformers_{MODEL}_{DEVICE}", f"example/{MODEL}"
TOOLS = {"benchmark": "openai-chat", "aiperf_benchmark": "aiperf", "genai_benchmark": "genai-perf"}
# ISL, OSL, concurrency, requests
WORKLOADS = [(128, 128, 1, 8), (128, 128, 32, 256), (1024, 128, 1, 4), (2048, 128, 16, 64)]
EVALS = {"example_ifeval": ("prompt_level_strict_acc,none", .74, 541), "example_mmlu": ("acc,none", .61, 1531)}


def latencies(name, mean):
    factors = {"mean": 1, "median": .99, "p99": 1.1, "std": .03}
    return {f"{stat}_{name}_ms": mean * factor for stat, factor in factors.items()}


def benchmark(backend, isl, osl, c, n, minute):
    """A result as vllm bench serve has it, or as the server's own summary of another tool has it."""
    ttft, tpot = 100 + isl / 8 + 5 * c, 40 + c / 4
    e2el = ttft + tpot * (osl - 1)
    rate = 1000 * c / e2el
    doc = {
        "date": f"20260620-10{minute:02d}00", "backend": backend, "model_id": HF, "tokenizer_id": HF, "num_prompts": n,
        "max_concurrency": c, "completed": n, "total_input_tokens": n * isl, "total_output_tokens": n * osl,
        "request_throughput": rate, "total_token_throughput": rate * (isl + osl),
        **latencies("ttft", ttft), **latencies("tpot", tpot), **latencies("itl", tpot), **latencies("e2el", e2el)}
    if backend.startswith("openai"):
        return {**doc, "request_rate": "inf", "duration": n / rate, "failed": 0, "output_throughput": rate * osl}
    return {**doc, "output_token_throughput": rate * osl}


def eval_result(task, metric, value, n):
    stderr = metric.replace(",", "_stderr,")
    return {"results": {task: {"alias": task, metric: value, stderr: .01}}, "configs": {task: {"task": task}},
            "n-samples": {task: {"original": n, "effective": n}}}


def spec():
    def target(ttft, tput):
        return {"ttft_ms": ttft, "tput_user": tput, "tput": None, "tolerance": 0.0}

    reference = {"isl": 128, "osl": 128, "max_concurrency": 1, "num_prompts": 8, "task_type": "text",
                 "targets": {"functional": target(890, 2.1), "complete": target(178, 10.5), "target": target(89, 21)}}
    return {"runtime_model_spec": {
        "model_id": ID, "impl": {"impl_id": "tt_transformers", "impl_name": "tt-transformers"}, "hf_model_repo": HF,
        "model_name": MODEL, "inference_engine": "vLLM", "device_type": DEVICE.upper(), "version": "0.9.0",
        "tt_metal_commit": "25305db", "vllm_commit": "6e67d2d",
        "device_model_spec": {"device": DEVICE.upper(), "max_concurrency": 32, "max_context": 65536,
                              "perf_reference": [reference]}}}


def main(out):
    def write(name, doc):
        path = os.path.join(out, "workflow_logs", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            json.dump(doc, f, indent=1)

    write(f"runtime_model_specs/runtime_model_spec_2026-06-20_10-00-00_{ID}_abc.json", spec())
    for name, backend in TOOLS.items():
        for i, (isl, osl, c, n) in enumerate(WORKLOADS):
            at = f"2026-06-20_10-{3 * i + 3:02d}-00"
            write(f"benchmarks_output/{name}_{ID}_{at}_isl-{isl}_osl-{osl}_maxcon-{c}_n-{n}.json",
                  benchmark(backend, isl, osl, c, n, 3 * i + 3))
    for i, (task, (metric, value, n)) in enumerate(EVALS.items()):
        write(f"evals_output/eval_{ID}/example__{MODEL}/results_2026-06-20T12-0{i}-00.000000.json",
              eval_result(task, metric, value, n))
    print(f"{len(TOOLS) * len(WORKLOADS)} points, {len(EVALS)} scores")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
