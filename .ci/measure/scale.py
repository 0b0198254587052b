#!/usr/bin/env python3
"""What a history of a size needs: scale.py [--from 1000] [--to 1000000] [--releases 4] [--parts 1000000]

For 10^3, 10^4 … series of so many releases: the CPU seconds, peak memory and bytes of a cold site, of a site of one
model (build --models), of an export to Parquet, and of the first query of the page about Parquet in DuckDB (from PyPI,
or an environment that has it). A size is removed before the next one is made; one for which the disk has no room is
left out. From --parts on, history is too large to be judged at once, and is exported by parts. CPU seconds hardly
depend on what else the machine does, seconds do, so they are not printed.
"""
import argparse, os, shutil, sys, tempfile

from build import HERE, commands, run, weight

QUERY = """
import duckdb
n = len(duckdb.sql("SELECT release, model, device, concurrency, median(value) FROM 'warehouse/points/*/*.parquet' "
                   "WHERE metric = 'ttft' AND stat = 'mean' GROUP BY ALL").fetchall())
assert n > 0
"""
# Models, devices and workloads: each of these has four series.
SIZES = {1000: (5, 5, 10), 10_000: (25, 5, 20), 100_000: (250, 5, 20), 1_000_000: (2500, 5, 20)}
NEED = 6000  # bytes of disk a series and release: documents, site, Parquet


def measure(work, series, releases, python):
    """Prints the row of a size."""
    folder = os.path.join(work, "workspace")
    os.makedirs(folder)
    sizes = map(str, SIZES[series] + (releases,))
    commands.sh(sys.executable, f"{HERE}/gen_history.py", "history", *sizes, cwd=folder)
    ttreport = os.path.join(work, "ttreport")
    _, cpu, memory = run([ttreport, "build"], folder)
    files, size = weight(f"{folder}/_site")
    shutil.rmtree(f"{folder}/_site")
    _, part, part_memory = run([ttreport, "build", "--models", "model-000-*", "--out", "part"], folder)
    _, export, export_memory = run([ttreport, "export", "parquet", "warehouse"], folder)
    _, stored = weight(f"{folder}/warehouse")
    _, history = weight(f"{folder}/history")
    _, query, query_memory = run([python, "-c", QUERY], folder)
    print(f"| {series:,} | {releases} | {history:.0f} MB | {cpu:.1f} s | {memory:.0f} MB | {files:,} | {size:.0f} MB "
          f"| {part:.1f} s, {part_memory:.0f} MB | {export:.1f} s, {export_memory:.0f} MB | {stored:.0f} MB "
          f"| {query:.1f} s, {query_memory:.0f} MB |", flush=True)
    shutil.rmtree(folder)
    shutil.rmtree(os.environ["XDG_CACHE_HOME"], ignore_errors=True)


def parts(work, series, releases, python):
    """Prints what a history costs that is too large to be judged at once: ten exports of a tenth of the models each,
    the query over all of them, and the site of one model."""
    folder = os.path.join(work, "workspace")
    os.makedirs(folder)
    sizes = map(str, SIZES[series] + (releases,))
    commands.sh(sys.executable, f"{HERE}/gen_history.py", "history", *sizes, cwd=folder)
    ttreport = os.path.join(work, "ttreport")
    _, history = weight(f"{folder}/history")
    _, cold, cold_memory = run([ttreport, "build", "--models", "model-000-*", "--out", "part"], folder)
    _, part, part_memory = run([ttreport, "build", "--models", "model-001-*", "--out", "part"], folder)
    ran = [run([ttreport, "export", "parquet", f"parts/{i}", "--models", f"model-*{i}-instruct"], folder)
           for i in range(10)]
    _, stored = weight(f"{folder}/parts")
    _, query, query_memory = run([python, "-c", QUERY.replace("warehouse", "parts/*")], folder)
    print(f"{series:,} series, {releases} releases, {history:.0f} MB: first site of a model {cold:.1f} s, "
          f"{cold_memory:.0f} MB; another {part:.1f} s, {part_memory:.0f} MB; ten exports "
          f"{sum(cpu for _, cpu, _ in ran):.1f} s in all, {max(memory for _, _, memory in ran):.0f} MB at most, "
          f"{stored:.0f} MB of Parquet; query {query:.1f} s, {query_memory:.0f} MB", flush=True)
    shutil.rmtree(folder)
    shutil.rmtree(os.environ["XDG_CACHE_HOME"], ignore_errors=True)


def engine(work):
    env = os.path.join(work, "engine")
    commands.sh(sys.executable, "-m", "venv", env, cwd=work)
    commands.sh(f"{env}/bin/pip", "install", "-q", "duckdb", cwd=work)
    return env


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--from", type=int, default=1000, dest="least")
    ap.add_argument("--to", type=int, default=1_000_000)
    ap.add_argument("--releases", type=int, default=4)
    ap.add_argument("--parts", type=int, default=1_000_000, help="from so many series on by parts")
    ap.add_argument("--engine")
    options = ap.parse_args()
    commands.clean_up_when_ended()
    work = tempfile.mkdtemp(prefix="ttreport-scale-")
    try:
        commands.build(work)
        os.environ["XDG_CACHE_HOME"] = os.path.join(work, "cache")  # not before: Go's cache is below it, too
        os.environ.pop("CI", None)  # there nothing is cached
        python = (options.engine or engine(work)) + "/bin/python"
        print("| series | releases | history | build, CPU | memory | files | site | one model's site | export "
              "| Parquet | query |\n|" + "---|" * 11, flush=True)
        for series in SIZES:
            if not options.least <= series <= options.to:
                continue
            if shutil.disk_usage(work).free < 2 * NEED * series * options.releases:
                print(f"{series:,} series: no room on the disk")
                continue
            (parts if series >= options.parts else measure)(work, series, options.releases, python)
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
