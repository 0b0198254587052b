"""What the scripts of this folder have in common: running a command that must end well, a free port, and uv."""
import os, shutil, socket, subprocess, sys


def sh(*argv, cwd, limit=1200, ok=True, env=None):
    """Runs a command to its end and returns what it printed; one that fails is an error with its last words."""
    p = subprocess.run(argv, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=limit, env={**os.environ, **(env or {})}, text=True)
    if ok and p.returncode:
        raise RuntimeError(f"{' '.join(argv)}: exit {p.returncode}\n{p.stdout[-1500:]}")
    return p.stdout


def port():
    """A port of the loopback interface that was free a moment ago."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def with_uv(work):
    """Puts uv on the PATH where there is none: faster than pip by far, though ttreport does without, too."""
    if not shutil.which("uv"):
        sh(sys.executable, "-m", "venv", f"{work}/uv", cwd=work)
        sh(f"{work}/uv/bin/pip", "install", "-q", "uv", cwd=work)
        os.environ["PATH"] = f"{work}/uv/bin:" + os.environ["PATH"]
