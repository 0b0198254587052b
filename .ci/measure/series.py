#!/usr/bin/env python3
"""Turns public benchmark histories into the tables that `figures --series` reads: one CSV file a history, one row a
series, one column a release in order, empty where nothing was measured.

    series.py asv RESULTS/MACHINE OUT.csv [WORD]    one machine's results of asv: files whose name has a word
    series.py gha DATA.js OUT.csv                           a data.js of github-action-benchmark: one release a night

The tables are read where they lie and are no part of the repository.
"""
import csv
import datetime
import itertools
import json
import pathlib
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


def gha(path):
    """Yields (night, {series: value}): the entries of one night are one release, the first value of a name counts."""
    text = pathlib.Path(path).read_text()
    data = json.loads(text[text.index("{"):].rstrip().rstrip(";"))
    nights = {}
    for suite, entries in data["entries"].items():
        for entry in entries:
            at = datetime.datetime.fromtimestamp(entry["date"] / 1000, datetime.timezone.utc)
            night = nights.setdefault((at - datetime.timedelta(hours=12)).date(), {})
            for bench in entry["benches"]:
                name = bench["name"]
                try:
                    named = json.loads(name)
                    name = " ".join((named["name"], named["description"], named["gpu_description"]))
                except (ValueError, KeyError, TypeError):
                    pass
                if bench["value"] > 0:
                    night.setdefault(suite + " " + " ".join(name.split()), bench["value"])
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
