"""Every field of a workload on llama.cpp's own server: a check of what came out of each, which returns what is wrong;
"" is nothing. What is drawn may be off by four standard errors: a point that was read late is drawn afresh."""
import json, math, statistics

FIELDS = {}  # of a workload: its text, by the name of its check


def field(text):
    """Notes a check of what one workload left: its result and its sidecar."""
    def note(check):
        FIELDS[check.__name__] = text, check
        return check
    return note


def lengths(r, isl, osl, n):
    """ISL counted is ISL asked within 1 %, OSL exactly."""
    if r["completed"] != n or r["failed"]:
        return f"{r['completed']} of {n} requests completed"
    if any(abs(got - isl) > .01 * isl for got in r["input_lens"]):
        return f"ISL {set(r['input_lens'])} counted, {isl} asked"
    return "" if set(r["output_lens"]) == {osl} else f"OSL {set(r['output_lens'])}, {osl} asked"


def gaps(r):
    at = sorted(r["start_times"])
    return [b - a for a, b in zip(at, at[1:])]


def short(r):
    """Share of the gaps between requests that are under a tenth of their mean: .095 for a Poisson process, .437 for
    gaps of a gamma distribution of shape .25. Their standard deviation says less: one long gap moves it."""
    return sum(g < statistics.mean(gaps(r)) / 10 for g in gaps(r)) / len(gaps(r))


def late(side):
    """Whether a busy machine sent requests so late that the gaps between them are no longer those that were drawn."""
    return float(side["client"].get("late_send_p99_ms", 0)) > 1


def near(what, got, want, off):
    return "" if abs(got - want) <= off else f"{what} is {got:.4g}, expected {want} within {off}"


@field("isl=1000,osl=8,c=4,n=8")
def closed(r, side):
    if side["conditions"].get("isl") != "counted by the server":
        return "lengths are not the server's count"
    return lengths(r, 1000, 8, 8) or near("most in flight", r["max_concurrent_requests"], 4, 0)


@field("isl=300,osl=8,endpoint=chat,c=2,n=8")
def chat(r, side):
    return lengths(r, 300, 8, 8)


@field("isl=300,osl=8,endpoint=responses,c=2,n=8")
def responses(r, side):
    return lengths(r, 300, 8, 8)


@field("isl=lognormal(300,0.5),osl=uniform(4,12),c=4,n=64")
def distributions(r, side):
    logs, out = statistics.stdev(math.log(n) for n in r["input_lens"]), set(r["output_lens"])
    if not out <= set(range(4, 13)) or len(out) < 6:
        return f"OSL {out} of uniform(4,12)"
    return near("mean ISL", statistics.mean(r["input_lens"]), 300, 90) or near("sd of ln ISL", logs, .5, .2)


@field("isl=8,osl=4,rate=40,arrivals=constant,n=40")
def constant(r, side):
    late = [at - i / 40 for i, at in enumerate(r["start_times"])]
    return near("median second late", statistics.median(late), 0, .01)


@field("isl=8,osl=4,rate=200,n=200")
def poisson(r, side):
    return near("short gaps", short(r), .095, .09) or near("mean gap", statistics.mean(gaps(r)), .005, .0015)


@field("isl=8,osl=4,rate=200,burstiness=0.25,n=200")
def gamma(r, side):
    return near("short gaps", short(r), .437, .14) or near("burstiness", r["burstiness"], .25, 0)


@field("isl=8,osl=4,arrivals=ramp(40,200),n=240")
def ramp(r, side):
    return near("requests in the first half", sum(at < 1 for at in r["start_times"]), 80, 30)


@field("isl=8,osl=4,arrivals=steps(40,160),n=100")
def steps(r, side):
    return near("requests in the first half", sum(at < .5 for at in r["start_times"]), 20, 17)


@field("isl=64,osl=16,endpoint=chat,turns=3,think=100ms,c=2,n=12")
def conversations(r, side):
    if r["completed"] != 12 or r["max_concurrent_requests"] > 2:
        return f"{r['completed']} of 12 turns, {r['max_concurrent_requests']} at once"
    for first in range(0, 12, 3):
        for i in (first + 1, first + 2):
            before = r["start_times"][i - 1] + r["ttfts"][i - 1] + sum(r["itls"][i - 1])
            if r["start_times"][i] < before + .099:
                return f"turn {i} came {r['start_times'][i] - before:.3f} s after the answer, 0.1 asked"
            if r["input_lens"][i] < r["input_lens"][i - 1] + 64:
                return f"turn {i} has {r['input_lens'][i]} tokens, the one before it {r['input_lens'][i - 1]}"
    return near("share of prompts in the cache", float(side["client"]["prompt_cached"]), .45, .2)


@field("isl=64,osl=200,c=2,n=40,cancel=25%")
def cancelled(r, side):
    gone = int(side["client"]["cancelled"])
    if r["completed"] + gone != 40 or r["failed"]:
        return f"{r['completed']} completed, {gone} cancelled, {r['failed']} failed of 40"
    return near("cancelled", gone, 10, 9)


@field("isl=8,osl=lognormal(300,1.5),c=2,n=12,timeout=80ms")
def timeouts(r, side):
    told = [e for e in r["errors"] if e]
    if set(told) != {"not answered within 80ms"} or r["completed"] + len(told) != 12:
        return f"{r['completed']} completed, errors {set(told)}"
    return "" if max(t + sum(i) for t, i in zip(r["ttfts"], r["itls"])) < .081 else "a request longer than its timeout"


@field("isl=512,osl=4,prefix=384,prefixes=2,c=1,n=24")
def prefixes(r, side):
    return lengths(r, 512, 4, 24) or near("share cached", float(side["client"]["prompt_cached"]), .75 * 22 / 24, .04)



BLOCK = 128  # tokens of a hash
MOONCAKE = [{"timestamp": 80 * i, "input_length": 4 * BLOCK + i, "output_length": 4 + i,
             "hash_ids": [1, 2, 3 + i // 6, 200 + i]} for i in range(12)]
# An agent's session whose second call needs the answer of the first, and a subagent within.
SESSION = {"id": "s", "block_size": BLOCK, "requests": [
    {"t": 0, "in": 3 * BLOCK, "out": 60, "hash_ids": [1, 2, 3], "api_time": 0.001},
    {"t": 0.01, "in": 4 * BLOCK + 5, "out": 6, "hash_ids": [1, 2, 3, 4], "api_time": 0.001},
    {"t": 0.5, "type": "subagent", "requests": [
        {"t": 0.5, "in": BLOCK + 9, "out": 5, "hash_ids": [9], "api_time": 0.001}]},
    {"t": 0.7, "in": 5 * BLOCK, "out": 7, "hash_ids": [1, 2, 3, 4, 5], "api_time": 0.001}]}
AZURE = ("TIMESTAMP,ContextTokens,GeneratedTokens\n"
         + "".join(f"2023-11-16 18:17:0{i // 5}.{i % 5 * 2}00000,{50 + i},{5 + i}\n" for i in range(10)))
BURST = ("Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
         + "".join(f"{i},ChatGPT,{40 + i},{4 + i},{44 + 2 * i},Conversation log\n" for i in range(5)))
BAILIAN = [{"chat_id": i, "parent_chat_id": i - 1 if i % 2 else -1, "timestamp": .1 * i,
            "input_length": 64 + 32 * (i % 2), "output_length": 5, "type": "text", "turn": 1 + i % 2,
            "hash_ids": [10 * (i // 2) + k for k in range(4 + 2 * (i % 2))]} for i in range(8)]
ANSWER = {"from": "gpt", "value": "an answer"}
TALK = [{"conversations": [{"from": "human", "value": f"question {i} " + "the " * 30}, ANSWER]} for i in range(20)]


def files(folder):
    """Writes the recorded loads into a folder, each in its own format."""
    for name, lines in {"mooncake.jsonl": MOONCAKE, "session.json": [SESSION], "bailian.jsonl": BAILIAN}.items():
        with open(f"{folder}/{name}", "w") as f:
            f.writelines(json.dumps(line) + "\n" for line in lines)
    for name, text in {"azure.csv": AZURE, "burst.csv": BURST, "talk.json": json.dumps(TALK)}.items():
        with open(f"{folder}/{name}", "w") as f:
            f.write(text)


def replayed(r, recorded):
    """recorded: when each request was sent, in seconds, its prompt and its answer, in tokens."""
    if r["input_lens"] != [x[1] for x in recorded] or r["output_lens"] != [x[2] for x in recorded]:
        return f"lengths {r['input_lens']} and {r['output_lens']} of {recorded}"
    late = [at - x[0] for at, x in zip(r["start_times"], recorded)]
    return "" if min(late) > -.001 and statistics.median(late) < .02 else f"sent {late} s late"


@field(f"dataset=trace,path=mooncake.jsonl,block={BLOCK}")
def mooncake(r, side):
    return replayed(r, [(x["timestamp"] / 1000, x["input_length"], x["output_length"]) for x in MOONCAKE])


@field(f"dataset=trace,path=mooncake.jsonl,block={BLOCK},speed=4,n=8")
def faster(r, side):
    return replayed(r, [(x["timestamp"] / 4000, x["input_length"], x["output_length"]) for x in MOONCAKE[:8]])


@field(f"dataset=trace,path=mooncake.jsonl,block={BLOCK},c=1")
def shared(r, side):
    """One after the other, so that a cache finds all that prompts share: 3 blocks, 2 where another third one comes."""
    found = (10 * 3 + 2) * BLOCK / sum(x["input_length"] for x in MOONCAKE)
    return near("share cached", float(side["client"]["prompt_cached"]), found, .05)


@field("dataset=trace,path=session.json")
def agent(r, side):
    calls = [*SESSION["requests"][:2], *SESSION["requests"][2]["requests"], SESSION["requests"][3]]
    if r["input_lens"] != [c["in"] for c in calls] or r["output_lens"] != [c["out"] for c in calls]:
        return f"lengths {r['input_lens']} and {r['output_lens']} of {calls}"
    answered = r["start_times"][0] + r["ttfts"][0] + sum(r["itls"][0])
    if r["start_times"][1] < answered:
        return f"the second call came {answered - r['start_times'][1]:.3f} s before the answer that it needs"
    return near("start of the last call", r["start_times"][3], .7, .1) or near(
        "share cached", float(side["client"]["prompt_cached"]), 7 * BLOCK / sum(r["input_lens"]), .05)


@field("dataset=trace,path=bailian.jsonl")
def bailian(r, side):
    return replayed(r, [(x["timestamp"], x["input_length"], x["output_length"]) for x in BAILIAN])


@field("dataset=trace,path=azure.csv,speed=4")
def azure(r, side):
    return replayed(r, [(.05 * i, 50 + i, 5 + i) for i in range(10)])


@field("dataset=trace,path=burst.csv,speed=10")
def burst(r, side):
    return replayed(r, [(i / 10, 40 + i, 4 + i) for i in range(5)])


@field("dataset=sharegpt,path=talk.json,osl=8,c=2,n=10")
def sharegpt(r, side):
    fine = r["completed"] == 10 and set(r["output_lens"]) == {8}
    return "" if fine else f"{r['completed']} of 10, {r['output_lens']}"
