#!/usr/bin/env python3
"""Turns public benchmark histories into the tables that `figures --series` reads: one CSV file a history, one row a
series, one column a release in order, empty where nothing was measured.

    series.py asv RESULTS/MACHINE OUT.csv [WORD]    one machine's results of asv: files whose name has a word
    series.py gha STORE OUT.csv [BRANCH]            github-action-benchmark, one release a night: a data.js, or a git
                                                    folder with a branch whose commits have some (all their entries)

A series of github-action-benchmark is named "metric|device|environment|workload", and larger values are worse: rates
are inverted. The tables are read where they lie and are no part of the repository.
"""
import csv
import datetime
import gzip
import itertools
import json
import pathlib
import subprocess
import sys


def asv(folder, word=""):
    """Yields (date, {series: value}) of every commit of one machine, oldest first."""
    commits = []
    for path in pathlib.Path(folder).glob("*.json"):
        if path.name == "machine.json" or word not in path.name:
            continue
        data = json.loads(path.read_text())
        values = {}
        columns = data["result_columns"]
        for name, row in data["results"].items():
            row = dict(zip(columns, row)) if isinstance(row, list) else {"result": row}
            keys = itertools.product(*row.get("params") or [])
            for key, value in zip(keys, row.get("result") or []):
                if isinstance(value, (int, float)) and value > 0:
                    values[name + "(" + ", ".join(key) + ")"] = value
        commits.append((data["date"], values))
    return sorted(commits, key=lambda c: c[0])


def stores(source, branch):
    """Yields the text of a data.js, or of every one that the commits of a branch have and the folder holds."""
    def git(*args):
        return subprocess.run(["git", "-C", source, *args], capture_output=True, check=False).stdout

    if not pathlib.Path(source).is_dir():
        yield pathlib.Path(source).read_text()
        return
    blobs = {}
    for commit in git("log", "--format=%H", branch).decode().split():
        for line in git("ls-tree", "-r", commit).decode().splitlines():
            facts, path = line.split("\t")
            if pathlib.Path(path).name.startswith("data"):
                blobs[facts.split()[2]] = path
    for blob, path in blobs.items():
        if text := git("cat-file", "blob", blob):  # a shallow copy lacks most
            yield (gzip.decompress(text) if path.endswith(".gz") else text).decode()


def named(name):
    """The parts of a series' name: versions of what is tested are none, the environment is."""
    try:
        facts = json.loads(name)
        python = ".".join(facts["python_version"].split(".")[:2])
        environment = f"Python {python}, torch {facts['torch_version']}"
        parts = facts["name"], facts["gpu_description"], environment, facts["description"]
    except (ValueError, KeyError, TypeError, AttributeError):
        parts = name, "", "", ""
    return "|".join(" ".join(part.replace("|", " ").split()) for part in parts)


def gha(source, branch="gh-pages"):
    """Yields (night, {series: value}): the entries of one night are one release, the first value of a name counts."""
    entries = {}
    for text in stores(source, branch):
        data = json.loads(text[text.index("{"):].rstrip().rstrip(";"))
        for suite, found in data["entries"].items():
            for entry in found:
                entries[entry["date"], suite, entry["commit"]["id"]] = entry
    nights = {}
    for (date, _, _), entry in sorted(entries.items()):
        at = datetime.datetime.fromtimestamp(date / 1000, datetime.timezone.utc)
        night = nights.setdefault((at - datetime.timedelta(hours=12)).date(), {})
        for bench in entry["benches"]:
            rate = "throughput" in bench["name"] or "bigger" in entry.get("tool", "").lower()
            observed = "latency" in bench["name"] or "_ms" in bench["name"]  # kept by a tool for rates, without alerts
            if bench["value"] > 0:
                value = 1 / bench["value"] if rate and not observed else bench["value"]
                night.setdefault(named(bench["name"]), value)
    return sorted(nights.items())


def main():
    kind, source, out, *word = sys.argv[1:]
    releases = {"asv": asv, "gha": gha}[kind](source, *word)
    names = sorted(set().union(*(values for _, values in releases)))
    with open(out, "w", newline="") as f:
        table = csv.writer(f)
        for name in names:
            table.writerow([name] + [values.get(name, "") for _, values in releases])
    print(f"{out}: {len(names)} series, {len(releases)} releases")


if __name__ == "__main__":
    main()
