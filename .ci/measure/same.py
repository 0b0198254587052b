#!/usr/bin/env python3
"""Checks that another build of ttreport writes the same bytes for the same inputs.

    same.py record BINARY FOLDER INPUT...     keep what BINARY writes for each INPUT
    same.py check BINARY FOLDER [NAME...] [--expect REGEX]... [--show N]

An INPUT is a workspace (a folder with results/, history/ or ttreport.yaml), a folder called results or history, or any
tree of result files, which becomes results/ of a workspace. `demo` is the demo's workspace, collected by BINARY;
`help` is every page of help. Kept are the history documents, the site with its CSV, JSON and markdown, Parquet files,
`inspect --json`, `compare` of the newest two releases, `check` of the newest two in every format,
and the reports of the newest in the layouts of tt-inference-server and nm-vllm.

`check` runs the same commands with another binary and compares file by file. A line that matches an --expect is left
out on both sides: it is a change that was asked for. Prints the first differing lines of --show files (default 8) of
each input, and exits 1 when there is a difference.
"""
import argparse, difflib, filecmp, json, os, re, shutil, subprocess, sys, tempfile

FORMATS = ("term", "md", "json", "junit", "release")
REPORTS = ("tt", "nm-vllm")
LONG = 1200  # seconds for one command; none takes more than a minute


class Workspace:
    """A copy of an input in which one binary works; every output becomes a file in it."""

    def __init__(self, binary, folder):
        self.binary, self.folder = os.path.abspath(binary), folder

    def fill(self, source):
        name = os.path.basename(os.path.abspath(source))
        skip = shutil.ignore_patterns("_site", ".ttreport", "out")
        if any(os.path.exists(os.path.join(source, n)) for n in ("results", "history", "ttreport.yaml")):
            shutil.copytree(source, self.folder, ignore=skip)
        elif name in ("results", "history"):
            shutil.copytree(source, os.path.join(self.folder, name), ignore=skip)
        else:
            shutil.copytree(source, os.path.join(self.folder, "results", name), ignore=skip)

    def run(self, name, *args):
        """Keeps the output and the exit code of a command in out/NAME."""
        p = subprocess.run([self.binary, *args], cwd=self.folder, capture_output=True, timeout=LONG)
        os.makedirs(os.path.join(self.folder, "out"), exist_ok=True)
        with open(os.path.join(self.folder, "out", name), "wb") as f:
            f.write(p.stdout + b"\n--- stderr, exit %d\n" % p.returncode + p.stderr)
        return p

    def outputs(self):
        """Runs every command, as a reader of this input would."""
        if os.path.exists(os.path.join(self.folder, "results")):
            self.run("inspect", "inspect", "--json", "results")
        self.run("build", "build")
        try:
            with open(os.path.join(self.folder, "_site", "data", "index.json")) as f:
                releases = [r["name"] for r in json.load(f)["releases"]][-2:]
        except FileNotFoundError:
            return
        for release in releases:
            for form in FORMATS:
                self.run(f"check-{form}-{release.replace('/', '_')}", "check", "--release", release, "--format", form)
        self.run("change-points", "check", "--format", "json", "--change-points")
        if len(releases) == 2:
            self.run("compare", "compare", *releases)
        self.run("export", "export", "parquet", "out/parquet")
        for layout in REPORTS:
            self.run(f"reports-{layout}", "build", "--reports", layout, "--reports-out", f"out/{layout}")

    def help(self):
        """Every page of help: of the program, of each command, of each topic."""
        os.makedirs(self.folder)
        text = self.run("help", "help").stdout.decode()
        names = re.findall(r"^  ([a-z-]+)  ", text.partition("Commands:")[2], re.M)
        names += re.findall(r"[a-z-]+", text.partition("ttreport help TOPIC: ")[2].partition(".")[0])
        for name in names:
            self.run("help-" + name, "help", name)


def fresh(binary, folder, source):
    """Makes a workspace of an input and runs everything in it."""
    w = Workspace(binary, folder)
    if source == "help":
        return w.help()
    if source == "demo":
        os.makedirs(folder)
        subprocess.run([w.binary, "collect"], cwd=folder, check=True, capture_output=True, timeout=LONG)
    else:
        w.fill(source)
    w.outputs()


def record(options):
    for source in options.rest:
        name = os.path.basename(os.path.abspath(source)) if source not in ("demo", "help") else source
        folder = os.path.join(options.folder, name)
        shutil.rmtree(folder, ignore_errors=True)
        fresh(options.binary, folder, source)
        print(f"{name}: {len(files(folder))} files")


def files(folder):
    """The outputs in a folder: what a command wrote, not what it read."""
    found = []
    for top in ("history", "_site", "out"):
        for d, _, names in os.walk(os.path.join(folder, top)):
            found += (os.path.relpath(os.path.join(d, n), folder) for n in names)
    return sorted(found)


def check(options):
    differences = 0
    with tempfile.TemporaryDirectory(prefix="ttreport-same-") as work:
        for name in options.rest or sorted(os.listdir(options.folder)):
            kept, now = os.path.join(options.folder, name), os.path.join(work, name)
            if name == "help":
                fresh(options.binary, now, "help")
            else:  # from the inputs that were kept: the demo's are those of the first binary
                inputs = shutil.ignore_patterns("_site", ".ttreport", "out", "history")
                shutil.copytree(kept, now, ignore=inputs if os.path.exists(os.path.join(kept, "results"))
                                else shutil.ignore_patterns("_site", ".ttreport", "out"))
                Workspace(options.binary, now).outputs()
            differences += compare(options, name, kept, now)
            shutil.rmtree(now)
    return differences


def compare(options, name, kept, now):
    expected = [re.compile(e) for e in options.expect]
    mine, theirs, differ = files(kept), files(now), []
    for path in sorted(set(mine) | set(theirs)):
        if path not in mine or path not in theirs:
            differ.append((path, ["only " + ("before" if path in mine else "after")]))
        elif not filecmp.cmp(os.path.join(kept, path), os.path.join(now, path), shallow=False):
            lines = changed(os.path.join(kept, path), os.path.join(now, path), expected)
            if lines:
                differ.append((path, lines))
    print(f"{name}: {len(mine)} files, {len(differ)} differ")
    for path, lines in differ[:options.show]:
        print("  " + path)
        for line in lines[:6]:
            print("    " + line[:300])
    return len(differ)


def changed(before, after, expected):
    """The lines that differ, without those that are expected to; what is no text differs as a whole."""
    sides = []
    for path in (before, after):
        with open(path, "rb") as f:
            data = f.read()
        if b"\0" in data[:8000]:
            return [f"{os.path.getsize(before)} -> {os.path.getsize(after)} bytes"]
        sides.append([x for x in data.decode(errors="replace").split("\n") if not any(e.search(x) for e in expected)])
    return [x for x in difflib.unified_diff(*sides, lineterm="", n=0) if not x.startswith(("---", "+++", "@@"))]


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("what", choices=("record", "check"))
    ap.add_argument("binary")
    ap.add_argument("folder")
    ap.add_argument("rest", nargs="*", metavar="input")
    ap.add_argument("--expect", action="append", default=[], metavar="REGEX", help="lines that match may differ")
    ap.add_argument("--show", type=int, default=8, help="how many differing files are shown of each input")
    options = ap.parse_args()
    if options.what == "record":
        return record(options)
    sys.exit(1 if check(options) else 0)


if __name__ == "__main__":
    main()
