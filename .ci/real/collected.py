"""What a collection left: the files of the tools, and what ttreport read of them."""
import csv, glob, json, os

# The file that a tool writes for a workload, and where the mean TTFT is in it.
FILES = {
    "vllm": ("result.json", lambda d: d["mean_ttft_ms"]),
    "aiperf": ("profile_export_aiperf.json", lambda d: d["time_to_first_token"]["avg"]),
    "guidellm": ("benchmarks.json",
                 lambda d: d["benchmarks"][0]["metrics"]["time_to_first_token_ms"]["successful"]["mean"]),
}


def close(a, b):
    return abs(float(a) - float(b)) <= 1e-5 * max(1e-9, abs(float(b)))


def load(path):
    with open(path) as f:
        return json.load(f)


def dump(path, doc):
    with open(path, "w") as f:
        json.dump(doc, f)
    return path


class Collected:
    """One `collect` and `build` in a folder: the rows of points.csv and scores.csv, and the tool's own files."""

    def __init__(self, folder, seconds, release="v1"):
        self.folder, self.seconds = folder, seconds
        points, self.scores = (self.rows(f"_site/data/{kind}/{release}.csv") for kind in ("points", "scores"))
        self.points = [p for p in points if p["task"] != "startup"]

    def rows(self, name):
        with open(os.path.join(self.folder, name)) as f:
            return list(csv.DictReader(f))

    def files(self, pattern):
        """Raw files of the tools, without the ones that ttreport adds."""
        found = glob.glob(f"{self.folder}/results/*/raw/{pattern}") + glob.glob(f"{self.folder}/out/*/raw/{pattern}")
        return sorted(f for f in found if not f.endswith(".ttreport.json"))

    def version(self, tool):
        for name in glob.glob(f"{self.folder}/*/*/raw/**/*.ttreport.json", recursive=True):
            if load(name)["tool"] == tool:
                return load(name).get("tool_version") or "?"
        return "?"

    def client(self, fact):
        """A fact that the builtin client kept with the only result; None where it has no model of that name."""
        names = glob.glob(f"{self.folder}/results/*/raw/*.ttreport.json")
        return load(names[0]).get("client", {}).get(fact)

    def results(self, n):
        """The newest n results of the builtin client in order, each with its sidecar: what a busy machine refused was
        measured again, in a run after it."""
        names = sorted(glob.glob(f"{self.folder}/results/*/raw/*.ttreport.json"))[-n:]
        return [(load(name.removesuffix(".ttreport.json")), load(name)) for name in names]

    def ttft(self, tool):
        """Whether points.csv has the TTFT of every file of the tool: "yes" or what is wrong."""
        name, mean = FILES[tool]
        theirs = [mean(load(f)) for f in self.files(f"*-{tool}-*/{name}")]
        return equal([r["ttft_mean_ms"] for r in self.points if r["tool"] == tool], theirs)

    def has(self, text):
        """Whether a file below the folder has a text."""
        names = (n for n in glob.glob(f"{self.folder}/**/*", recursive=True) if os.path.isfile(n))
        return any(text.encode() in open(n, "rb").read() for n in names)

    def measured(self, n):
        """Whether there are n points, each with a TTFT: the built-in client has no file of its own to compare with."""
        fine = len(self.points) == n and all(float(r["ttft_mean_ms"]) > 0 for r in self.points)
        return "yes" if fine else f"NO: {len(self.points)} points"


def equal(ours, theirs):
    ours, theirs = sorted(map(float, ours)), sorted(map(float, theirs))
    same = ours and len(ours) == len(theirs) and all(close(a, b) for a, b in zip(ours, theirs))
    return "yes" if same else f"NO: {ours} for {theirs}"
