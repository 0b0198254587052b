"""Functions for the scripts under .ci: a command that must succeed, a free port, uv, a Python of some version."""
import contextlib, os, random, shutil, signal, socket, subprocess, sys, time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOKENIZER = os.path.join(ROOT, ".ci", "tokenizer.py")


def sh(*argv, cwd, limit=1200, ok=True, env=None):
    """Runs a command to its end and returns what it printed. One that fails is an error with the end of its output."""
    p = subprocess.Popen(argv, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         env={**os.environ, **(env or {})}, text=True)
    try:
        printed, _ = p.communicate(timeout=limit)
    except BaseException:
        end(p)
        raise
    if ok and p.returncode:
        raise RuntimeError(f"{' '.join(argv)}: exit {p.returncode}\n{printed[-1500:]}")
    return printed


class Unfetched(RuntimeError):
    """What could not be had from a package registry."""


def fetched(*argv, **kw):
    """Runs a command that needs a package registry, three times more when it fails: networks fail now and then. Raises
    Unfetched if the last time fails, too."""
    for pause in (5, 20, 60):
        try:
            return sh(*argv, **kw)
        except RuntimeError as e:
            print(f"   tried again after {pause} s: {e}", flush=True)
            time.sleep(pause)
    try:
        return sh(*argv, **kw)
    except RuntimeError as e:
        raise Unfetched(e) from e


def end(process):
    """Ends a process that we started: with SIGTERM first, so that it can end what it started."""
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def clean_up_when_ended():
    """Turns SIGTERM into an exception, so that servers are ended and folders removed, as on SIGINT."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


def build(work, package="./cmd/ttreport", flags=(), **kw):
    """Builds a program of this repository into work and returns its path."""
    out = os.path.join(work, os.path.basename(package))
    sh("go", "build", *flags, "-o", out, package, cwd=ROOT, **kw)
    return out


def port():
    """A port of the loopback interface that was free a moment ago, and that the system gives to no connection."""
    while True:
        with socket.socket() as s, contextlib.suppress(OSError):
            s.bind(("127.0.0.1", random.randint(10000, 20000)))
            return s.getsockname()[1]


def with_uv(work):
    """Puts uv on the PATH where there is none: faster than pip by far, though ttreport does without, too."""
    if not shutil.which("uv"):
        sh(sys.executable, "-m", "venv", f"{work}/uv", cwd=work)
        fetched(f"{work}/uv/bin/pip", "install", "-q", "uv", cwd=work)
        os.environ["PATH"] = f"{work}/uv/bin:" + os.environ["PATH"]


def python(*versions):
    """The first of several versions of Python that runs here, or None. A shim of pyenv may exist and not run."""
    for v in versions:
        name = shutil.which(f"python{v}")
        if name and subprocess.run([name, "--version"], capture_output=True).returncode == 0:
            return name
    return None
