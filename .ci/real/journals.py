"""What the stories of schedulers share: the journal of a submission, and waiting for something in it."""
import glob, json, time


def events(folder, scheduler):
    """The events of the submissions in a folder, as far as they are written."""
    out = []
    for name in glob.glob(f"{folder}/.ttreport/{scheduler}/*/journal.jsonl"):
        with open(name) as f:
            out += [json.loads(line) for line in f if line.endswith("\n")]
    return out


def until(what, limit=300):
    """Waits for something, so many seconds, and returns it."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if found := what():
            return found
        time.sleep(.05)
    raise RuntimeError("waited in vain")


def measured(folder, scheduler):
    """How often each point of each entry has a result that its journal calls done."""
    done = {}
    for name in glob.glob(f"{folder}/results/{scheduler}-*/*/*/journal.jsonl"):
        with open(name) as f:
            for e in map(json.loads, f):
                if e["event"] == "point-done":
                    key = (name.split("/")[-3], e["item"])
                    done[key] = done.get(key, 0) + 1
    return done


def rows(folder):
    """How many points the site has."""
    n = 0
    for name in glob.glob(f"{folder}/_site/data/points/v*.csv"):
        with open(name) as f:
            n += len(f.readlines()) - 1
    return n
