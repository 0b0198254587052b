"""Prints what a checkout of tt-inference-server has as Python: tt_evals.py CHECKOUT evals|models

evals: its evals as a target file. models: its specifications of models in development, as its release_model_spec.json
has the others. It runs in an environment in which the checkout's own run.py runs. What cannot become a target is named
on standard error, with the reason.
"""
import collections, importlib, json, os, pathlib, shutil, subprocess, sys, tempfile, time

checkout = os.path.abspath(sys.argv[1])
if not any((p / ".git").exists() for p in [pathlib.Path(checkout), *pathlib.Path(checkout).parents]):
    copy = tempfile.TemporaryDirectory()  # an archive: its modules look for the .git above them
    shutil.copytree(checkout, copy.name, dirs_exist_ok=True, ignore_dangling_symlinks=True)
    os.mkdir(os.path.join(copy.name, ".git"))
    checkout = copy.name
sys.path.insert(0, checkout)
os.chdir(checkout)
if sys.argv[2] == "models":
    os.environ["MODEL_SPECS_ENV"] = "dev"
    specs = importlib.import_module("workflows.model_spec")
    specs.export_model_specs_json(specs.MODEL_SPECS, pathlib.Path("/dev/stdout"))
    sys.exit()
left_out = collections.defaultdict(list)


def configs():
    for name in ("reference_config.evals.eval_config", "evals.eval_config"):  # since v0.19, and before
        try:
            return importlib.import_module(name).EVAL_CONFIGS
        except ModuleNotFoundError as e:
            if e.name is None or not name.startswith(e.name):
                raise
    sys.exit("no eval_config.py in " + checkout)


def output(*argv):
    done = subprocess.run(argv, capture_output=True, text=True, cwd=checkout)
    return done.stdout.strip() if done.returncode == 0 else ""


def tool(task):
    """The tool for an environment of theirs, or None: their own scripts run the others."""
    kind = task.workflow_venv_type.name
    return {"EVALS_COMMON": "lm-eval", "EVALS_META": "lm-eval", "EVALS_VISION": "lmms-eval"}.get(kind)


def reference(score):
    """The score that their check compares with, and where it is from."""
    if score is None:
        return None, ""
    if score.gpu_reference_score:
        return score.gpu_reference_score, score.gpu_reference_score_ref
    return score.published_score, score.published_score_ref


def run_of(task):
    kwargs = {k: v for k, v in (task.gen_kwargs or {}).items() if k != "stream"}
    run = {"tool": tool(task), "fewshot": task.num_fewshot or 0}
    if kwargs:
        run["gen_kwargs"] = ",".join(f"{k}={v}" for k, v in kwargs.items())
    if task.use_chat_api:
        run["chat"] = True
    if task.max_concurrent:
        run["num_concurrent"] = int(task.max_concurrent)
    return {k: v for k, v in run.items() if v is not None}


def target(model, task, source, date):
    """One entry of evals:, or None."""
    value, where = reference(task.score)
    if not value:
        left_out["without a reference score"].append(f"{model} {task.task_name}")
        return None
    kwargs = task.score.score_func_kwargs or {}
    keys = kwargs.get("result_keys") or []
    how = task.score.score_func.__name__
    if how == "score_task_single_key":
        keys = keys[:1]  # it reads no other
    of = [k.rpartition(",") for k in keys if isinstance(k, str)]
    of = [(metric or filter_, filter_ if metric else "") for metric, _, filter_ in of]
    means = len(of) > 1 and how == "score_task_keys_mean" and len({filter_ for _, filter_ in of}) == 1
    if len(of) != len(keys) or len(of) != 1 and not means or kwargs.get("unit") not in (None, "percent"):
        left_out["scored by code of theirs, or in another unit"].append(f"{model} {task.task_name}")
        return None
    if tool(task) is None:
        left_out["run by a script of their own"].append(f"{model} {task.task_name}")
        return None
    metric, filter_ = of[0]
    if means:
        metric = f"mean({', '.join(name for name, _ in of)})"
    where = "" if str(where).upper() in ("NONE", "TBD", "DUMMY VALUE", "") else str(where)
    out = {"model": model, "task": task.task_name, "metric": metric, "value": value,
           "tolerance": task.score.tolerance, "source": f"{where or 'no reference stated'} ({source})", "as_of": date,
           "run": run_of(task)}
    if filter_:
        out["filter"] = filter_
    for name, score in (("gpu", "gpu_reference_score"), ("published", "published_score")):
        if stated := getattr(task.score, score, None):
            link = str(getattr(task.score, score + "_ref", None) or "")
            out[name] = {"value": stated} | ({"source": link} if link.startswith("http") else {})
    return out


version = open(os.path.join(checkout, "VERSION")).read().strip() if os.path.exists("VERSION") else "of unknown version"
date = output("git", "log", "-1", "--format=%cs") or time.strftime("%Y-%m-%d")  # of an archive: the day it was read
evals, seen = [], set()
for model, config in sorted(configs().items()):
    for task in config.tasks:
        entry = target(model, task, "tt-inference-server " + version, date)
        if entry and (model, entry["task"], entry["metric"], entry.get("filter")) not in seen:
            seen.add((model, entry["task"], entry["metric"], entry.get("filter")))
            evals.append(entry)
for why, names in sorted(left_out.items()):
    print(f"left out: {len(names)} {why}: {', '.join(names)}", file=sys.stderr)
json.dump({"evals": evals}, sys.stdout, indent=1)
