#!/usr/bin/env python3
"""Writes a project of airspeed velocity: gen_asv.py OUT BENCHMARKS PARAMETERS COMMITS

OUT gets a Git repository of COMMITS commits, the results of BENCHMARKS benchmarks (each with PARAMETERS values) for all
of them, and asv.conf.json, so that `asv publish` can be timed on as much data as ttreport gets from gen_history.py
(10000 1 50). Noise is 2 %; every fiftieth benchmark gets 10 % slower two thirds of the way.
"""
import json, os, random, subprocess, sys

START, DAY = 1700000000, 86400  # seconds since 1970
COLUMNS = ("result params version started_at duration stats_ci_99_a stats_ci_99_b stats_q_25 stats_q_75 stats_number "
           "stats_repeat samples profile").split()
MACHINE = {"arch": "x", "cpu": "c", "machine": "m1", "os": "l", "ram": "1"}


def git(*args, **more):
    return subprocess.run(["git", *args], check=True, **more)


def repository(folder, commits):
    """Makes a repository whose commits change one file; returns their hashes, the oldest first."""
    stream = []
    for i in range(commits):
        parent = f"from :{i}\n" if i else ""
        stream.append(f"commit refs/heads/main\nmark :{i + 1}\ncommitter a <a@b> {START + i * DAY} +0000\ndata 2\nc\n"
                      f"{parent}M 644 inline f\ndata {len(str(i))}\n{i}\n")
    git("init", "-q", "-b", "main", folder)
    git("fast-import", "--quiet", cwd=folder, input="".join(stream).encode())
    return git("rev-list", "--reverse", "main", cwd=folder, capture_output=True, text=True).stdout.split()


def benchmark(name, parameters):
    return {"code": "", "name": name, "param_names": ["workload"] if parameters else [], "params": parameters,
            "type": "track",
            "unit": "ms", "version": "1", "timeout": 60}


def commit(rnd, i, of, hash, base, parameters):
    """The results of one commit, as `asv run` writes them."""
    date, results = (START + i * DAY) * 1000, {}
    for n, (name, means) in enumerate(base.items()):
        factor = 1.10 if n % 50 == 0 and i >= of * 2 // 3 else 1
        results[name] = [[round(m * (1 + rnd.gauss(0, .02)) * factor, 4) for m in means], parameters, "1", date, 1.0]
    return {"commit_hash": hash, "env_name": "e", "date": date, "params": {**MACHINE, "python": "3.11"},
            "python": "3.11", "requirements": {}, "env_vars": {}, "result_columns": COLUMNS, "results": results,
            "durations": {}, "version": 2}


def write(name, doc):
    with open(name, "w") as f:
        json.dump(doc, f)


def main(out, benchmarks, values, commits):
    rnd = random.Random(1)
    os.makedirs(f"{out}/results/m1")
    hashes = repository(f"{out}/repo", commits)
    parameters = [[str(k) for k in range(values)]] if values > 1 else []
    names = [f"suite.Model{i:05d}.track_ttft" for i in range(benchmarks)]
    base = {n: [rnd.uniform(10, 1000) for _ in range(values)] for n in names}
    write(f"{out}/results/benchmarks.json", {"version": 2, **{n: benchmark(n, parameters) for n in names}})
    write(f"{out}/results/m1/machine.json", {**MACHINE, "version": 1, "num_cpu": "1"})
    for i, hash in enumerate(hashes):
        write(f"{out}/results/m1/{hash[:8]}-e.json", commit(rnd, i, commits, hash, base, parameters))
    write(f"{out}/asv.conf.json", {
        "version": 1, "project": "p", "project_url": "http://localhost", "repo": f"{out}/repo", "branches": ["main"],
        "environment_type": "virtualenv", "show_commit_url": "http://localhost/", "results_dir": f"{out}/results",
        "html_dir": f"{out}/html", "env_dir": f"{out}/env", "benchmark_dir": f"{out}/repo"})


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(os.path.abspath(sys.argv[1]), *map(int, sys.argv[2:]))
