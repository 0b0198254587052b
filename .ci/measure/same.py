#!/usr/bin/env python3
"""Checks that two builds of ttreport give the same numbers and verdicts for the same inputs.

    same.py BEFORE AFTER INPUT... [--newest N] [--rename OLD=NEW]... [--ignore REGEX]... [--keep]

BEFORE and AFTER are ttreport binaries. An INPUT is a workspace (a folder with results/, history/ or ttreport.yaml),
a folder called results or history, or any tree of result files, which becomes results/ of a workspace. Each binary
gets its own copy of it and runs `build`, then `check --format json` for every release (the newest N with --newest).
Compared are exit codes, the JSON of every check, the change points, _site/data/index.json, every CSV of _site/data and
the documents of history/.

Words are compared after the renames in WORDS, so that either side may use the old or the new vocabulary. Rows and
verdicts are matched by identity, not by order. Sentences (PROSE) are not compared. Fields that only
AFTER has are counted, not compared; fields that only BEFORE has are differences, unless --rename gives the new name
or --ignore matches the path. A number may change from text to a number: the two are equal when they agree at the
digits that BEFORE printed.

Prints what was compared, what was ignored and the first 20 differences of each input. Exits 1 when there is a
difference.
"""
import argparse, collections, csv, filecmp, json, os, re, shutil, subprocess, sys, tempfile

# Old word -> the word of the glossary. Merged words (noisy and watch) are merged on both sides.
WORDS = {
    "worse": "regressed", "better": "improved", "same": "unchanged", "probable": "suspected",
    "noisy": "inconclusive", "watch": "inconclusive", "insufficient": "no-baseline", "gone": "not-remeasured",
    "void": "excluded", "invalid": "excluded", "impossible": "unattainable", "ungraded": "no-target",
    "not-graded": "no-target",
    "fit": "pass", "fit-with-notes": "pass-with-warnings", "not-fit": "fail", "informative": "informational",
    "hollow": "empty-responses", "creep": "drift", "late-step": "late-change-point", "twice": "duplicate-run",
    "clock": "bad-timestamps", "perfect": "zero-stderr", "limited": "subsampled", "rehearsal": "demo",
}
KEYS = {"effect_positive_is_worse": "effect", "effect_positive_is_regression": "effect", "levels": "change_points"}
PROSE = {"why", "detail", "reason", "args", "missing_reason", "version", "title", "recheck", "text", "sentence",
         "explanation"}
IDENTITY = ("release channel run model device impl key task tool isl osl concurrency rate rate_req_s dataset dims "
            "repeat filter metric stat against level family kind subject id name").split()
NAMES = {"id", "run", "cause", "release", "model", "device", "version"}  # never numbers, even if they look like numbers
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,2})?")
FLOAT_TOLERANCE = 1e-9  # relative; a sum in another order differs by less


def word(text):
    text = text.strip()
    plain = text.lower().replace(" ", "-")
    return WORDS.get(plain, plain if plain in WORDS.values() else text)


def number(value):
    if isinstance(value, bool):
        return None
    try:
        return float(value) if isinstance(value, (int, float)) or NUMBER.fullmatch(value) else None
    except (ValueError, TypeError):
        return None


def same_number(old, new, old_text):
    """Equal within rounding: that of floating point, or of the digits that the old text had."""
    if isinstance(old_text, str):
        mantissa, _, exponent = old_text.lower().partition("e")
        digits = len(mantissa.partition(".")[2])
        slack = 0.5000001 * 10.0 ** (int(exponent or 0) - digits)
    else:
        slack = FLOAT_TOLERANCE * max(abs(old), abs(new))
    return abs(old - new) <= slack


class Comparison:
    """The comparison of one input: counts, what was ignored, differences."""

    def __init__(self, options):
        self.keys = {**KEYS, **dict(pair.split("=", 1) for pair in options.rename)}
        self.ignore = [re.compile(pattern) for pattern in options.ignore]
        self.numbers = self.verdicts = self.texts = self.documents = 0
        self.ignored, self.added, self.differences = collections.Counter(), collections.Counter(), []

    def differ(self, path, old, new):
        if any(pattern.search(path) for pattern in self.ignore):
            self.ignored["--ignore"] += 1
        else:
            self.differences.append(f"{path}: {shorten(old)} -> {shorten(new)}")

    def value(self, path, old, new):
        """Compares anything that JSON can hold."""
        if isinstance(old, dict) and isinstance(new, dict):
            return self.object(path, old, new)
        if isinstance(old, list) and isinstance(new, list):
            return self.list(path, old, new)
        if old == new and isinstance(old, str) and not old[:1].isdigit():
            self.texts += 1
            return
        a, b = number(old), number(new)
        if a is not None and b is not None:
            self.numbers += 1
            if not same_number(a, b, old):
                self.differ(path, old, new)
            return
        self.texts += 1
        if isinstance(old, str) and isinstance(new, str):
            old, new = word(old), word(new)
        if old != new and not (absent(old) and absent(new)):
            self.differ(path, old, new)

    def object(self, path, old, new):
        old, new = (gone_is_a_verdict(side) for side in (old, new))
        new = {self.keys.get(k, k): v for k, v in new.items()}
        old = {self.keys.get(k, k): v for k, v in old.items()}
        for k, v in old.items():
            if k in PROSE:
                self.ignored[k] += 1
            elif k not in new:
                if not absent(v):
                    self.differ(f"{path}.{k}", v, "no such field")
            elif k in NAMES and isinstance(v, str):
                self.texts += 1
                if word(v) != word(str(new[k])):
                    self.differ(f"{path}.{k}", v, new[k])
            else:
                self.value(f"{path}.{k}", v, new[k])
        for k in new.keys() - old.keys() - PROSE:
            self.added[k] += 1

    def list(self, path, old, new):
        """Compares lists of objects by what each is about, tallies by kind, and other lists in their order."""
        if all(isinstance(x, dict) for x in old + new) and old + new:
            if path.endswith(".counts"):
                old, new = tallies(old), tallies(new)
            return self.rows(path, old, new)
        if len(old) != len(new):
            return self.differ(path, f"{len(old)} values", f"{len(new)} values")
        for i, (a, b) in enumerate(zip(old, new)):
            self.value(f"{path}[{i}]", a, b)

    def rows(self, path, old, new):
        """Matches rows by their identity, each kind of row by the identity fields that both sides have."""
        shared = {f for r in old for f in r} & {f for r in new for f in r}
        fields = [f for f in IDENTITY if f in shared and not (f == "id" and "verdict" in shared)]
        mine, theirs = grouped(old, fields), grouped(new, fields)
        for key, group in mine.items():
            where = f"{path}[{' '.join(k for k in key if k not in ('', 'null'))}]"
            others = theirs.get(key, [])
            if len(group) != len(others):
                self.differ(where, f"{len(group)} rows", f"{len(others)} rows")
            for a, b in zip(group, others):
                self.verdicts += "verdict" in a
                self.value(where, a, b)
        for key in theirs.keys() - mine.keys():
            self.differ(f"{path}[{' '.join(key)}]", "no such row", f"{len(theirs[key])} rows")


def shorten(value):
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else text[:117] + "..."


def absent(value):
    return value is None or value == "" or value == [] or value == {} or value is False


def gone_is_a_verdict(side):
    """Gives a workload that was not measured again the verdict of the glossary: it was `missing`, reason `gone`."""
    if side.get("verdict") == "missing" and side.get("reason") == "gone":
        return {**side, "verdict": "not-remeasured"}
    if side.get("verdict") in ("missing", "not-remeasured") and "key" in side and isinstance(side["key"], str):
        return {**side, "verdict": "missing"}  # a CSV row does not hold the reason
    return side


def tallies(rows):
    """Adds up the tallies of kinds that have one name now."""
    total = {}
    for r in rows:
        kind = word(r.get("kind", ""))
        t = total.setdefault(kind, {"kind": kind, "points": 0, "metrics": 0, "fails": False})
        for k, v in r.items():
            if k != "kind":
                t[k] = t.get(k, 0) + v if isinstance(v, int) and not isinstance(v, bool) else t.get(k) or v
    return list(total.values())


def grouped(rows, fields):
    groups = collections.defaultdict(list)
    for r in rows:
        groups[tuple(identity(r.get(f)) for f in fields)].append(r)
    for group in groups.values():
        group.sort(key=lambda r: json.dumps(r.get("value", r), sort_keys=True))
    return groups


def identity(value):
    if number(value) is not None:
        return f"{number(value):g}"
    if isinstance(value, dict):
        value = {k: v for k, v in value.items() if not absent(v)}
    return word(value) if isinstance(value, str) else json.dumps(value, sort_keys=True)


class Copy:
    """One binary at work on its own copy of an input."""

    def __init__(self, binary, source, folder):
        self.binary, self.folder = os.path.abspath(binary), folder
        name = os.path.basename(os.path.abspath(source))
        skip = shutil.ignore_patterns("_site", ".ttreport")
        if any(os.path.exists(os.path.join(source, n)) for n in ("results", "history", "ttreport.yaml")):
            shutil.copytree(source, folder, ignore=skip)
        elif name in ("results", "history"):
            shutil.copytree(source, os.path.join(folder, name), ignore=skip)
        else:
            shutil.copytree(source, os.path.join(folder, "results", name), ignore=skip)

    def run(self, *args, usage_error=False):
        p = subprocess.run([self.binary, *args], cwd=self.folder, capture_output=True, text=True, timeout=1200)
        if p.returncode not in (0, 1, 5) and not (usage_error and p.returncode == 2):
            sys.exit(f"{self.binary} {' '.join(args)}: exit {p.returncode}\n{p.stderr[-2000:]}")
        return p

    def build(self):
        p = self.run("build")
        if p.returncode:
            sys.exit(f"{self.binary} build: exit {p.returncode}\n{p.stderr[-2000:]}")

    def check(self, release):
        p = self.run("check", "--release", release, "--format", "json")
        return {**json.loads(p.stdout), "exit code": p.returncode}

    def change_points(self, release):
        """The steps and drifts in the history, by either name of the flag."""
        for flag, key in (("--change-points", "change_points"), ("--levels", "levels")):
            p = self.run("check", "--release", release, "--format", "json", flag, usage_error=True)
            if p.returncode != 2:
                doc = json.loads(p.stdout)
                return doc.get(key, doc.get("levels"))
        return None

    def load(self, *path):
        with open(os.path.join(self.folder, *path), newline="") as f:
            return json.load(f) if path[-1].endswith(".json") else list(csv.DictReader(f))

    def files(self, folder, end):
        top = os.path.join(self.folder, folder)
        found = (os.path.join(d, n) for d, _, names in os.walk(top) for n in names if n.endswith(end))
        return sorted(os.path.relpath(n, self.folder) for n in found)


def compare(options, source, work):
    """Compares the output of both binaries for one input."""
    c = Comparison(options)
    before = Copy(options.before, source, os.path.join(work, "before"))
    after = Copy(options.after, source, os.path.join(work, "after"))
    for side in (before, after):
        side.build()
    c.value("index.json", before.load("_site", "data", "index.json"), after.load("_site", "data", "index.json"))
    compare_files(c, before, after, "_site/data", ".csv")
    compare_files(c, before, after, "history", ".json")
    releases = [r["name"] for r in before.load("_site", "data", "index.json")["releases"]]
    releases = releases[-options.newest:] if options.newest else releases
    for r in releases:
        c.value(f"check {r}", before.check(r), after.check(r))
    if releases:
        c.value(f"change points {releases[-1]}", *(side.change_points(releases[-1]) for side in (before, after)))
    report(c, source, len(releases))
    return len(c.differences)


def compare_files(c, before, after, folder, end):
    mine, theirs = before.files(folder, end), after.files(folder, end)
    for name in sorted(set(mine) | set(theirs)):
        if name not in theirs or name not in mine:
            c.differ(name, name in mine, name in theirs)
            continue
        c.documents += 1
        paths = (os.path.join(side.folder, name) for side in (before, after))
        if end == ".json" and filecmp.cmp(*paths, shallow=False):
            continue
        c.value(name.replace(".csv", ""), before.load(name), after.load(name))


def report(c, source, releases):
    print(f"{source}: {releases} releases, {c.documents} files, {c.verdicts} verdicts, {c.numbers} numbers and "
          f"{c.texts} texts compared, {len(c.differences)} differences")
    for what, counts in (("not compared", c.ignored), ("only after", c.added)):
        if counts:
            print(f"  {what}: " + ", ".join(f"{k} ({n})" for k, n in counts.most_common()))
    for line in c.differences[:20]:
        print("  " + line)
    if len(c.differences) > 20:
        print(f"  and {len(c.differences) - 20} more")
    if not c.verdicts or not c.numbers:
        print("  nothing to compare: no verdicts or no numbers")
        c.differences.append("nothing compared")


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("before")
    ap.add_argument("after")
    ap.add_argument("inputs", nargs="+", metavar="input")
    ap.add_argument("--newest", type=int, default=0, help="check only the newest N releases of each input")
    ap.add_argument("--rename", action="append", default=[], metavar="OLD=NEW",
                    help="a JSON key or CSV column with a new name")
    ap.add_argument("--ignore", action="append", default=[], metavar="REGEX",
                    help="differences in paths that match do not count")
    ap.add_argument("--keep", action="store_true", help="keep the copies and print where they are")
    options = ap.parse_args()
    work, differences = tempfile.mkdtemp(prefix="ttreport-same-"), 0
    try:
        for i, source in enumerate(options.inputs):
            differences += compare(options, source, os.path.join(work, str(i)))
    finally:
        if options.keep:
            print(f"the copies are in {work}")
        else:
            shutil.rmtree(work, ignore_errors=True)
    sys.exit(1 if differences else 0)


if __name__ == "__main__":
    main()
