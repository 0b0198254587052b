"""A real Kubernetes control plane on one host, without kubelets: etcd, the API server, controller manager, scheduler
and kubectl built from their modules into one program, by process id, on loopback. A kubectl of the host is preferred.

A kubelet of forty lines takes the place of the nodes: it starts the command of a pod's client as a process on this
host, and sets the pod's status as a kubelet does.
"""
import contextlib, functools, glob, json, os, shutil, ssl, subprocess, threading, time, urllib.error, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import commands
from commands import end, fetched, sh
from servers import Daemons, Skip, apt, cache

VERSION = "1.36.3"
MAIN = """package main

import (
	"os"
	"path/filepath"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	kubectl "k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
	manager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

func main() {
	switch filepath.Base(os.Args[0]) {
	case "kube-controller-manager":
		os.Exit(cli.Run(manager.NewControllerManagerCommand()))
	case "kube-scheduler":
		os.Exit(cli.Run(scheduler.NewSchedulerCommand()))
	case "kubectl":
		util.CheckErr(cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()))
		os.Exit(0)
	}
	os.Exit(cli.Run(apiserver.NewAPIServerCommand()))
}
"""
PROGRAMS = {"api": "kube-apiserver", "manager": "kube-controller-manager", "scheduler": "kube-scheduler"}
CONFIG = """apiVersion: v1
kind: Config
clusters: [{{name: c, cluster: {{server: "https://127.0.0.1:{port}", insecure-skip-tls-verify: true}}}}]
users: [{{name: u, user: {{token: {token}}}}}]
contexts: [{{name: real, context: {{cluster: c, user: u}}}}]
current-context: real
"""


def program():
    """Where the program with all three parts is, when it is built."""
    return f"{cache()}/kubernetes-{VERSION}"


def built():
    return os.path.exists(program())


class Building(threading.Thread):
    """Builds the program once for this machine: 7 minutes of a processor, 120 MB."""

    failed = None

    def run(self):
        try:
            if not built():
                build()
        except Exception as e:
            self.failed = e

    def done(self):
        """Waits until the program is there, and returns its path."""
        self.join()
        if self.failed:
            raise self.failed
        return program()


@functools.cache
def prepare():
    """Begins to build the program, beside steps that mostly wait."""
    building = Building()
    building.start()
    return building


def build():
    at, source = program(), f"{cache()}/source"
    shutil.rmtree(source, ignore_errors=True)
    os.makedirs(source)
    with open(f"{source}/main.go", "w") as f:
        f.write(MAIN)
    sh("go", "mod", "init", "real/kubernetes", cwd=source)
    found = json.loads(fetched("go", "mod", "download", "-json", f"k8s.io/kubernetes@v{VERSION}", cwd=source))
    with open(found["GoMod"]) as f:  # its own modules are replaced by folders, which a module of another must state
        lines = f.read().split("\n")
    parts = {w for line in lines for w in line.split()[:2] if w.startswith("k8s.io/") and
             ("=> ./staging" in line or line.split()[-1] == "v0.0.0")}
    with open(f"{source}/go.mod", "a") as f:
        f.write(f"require k8s.io/kubernetes v{VERSION}\n")
        f.writelines(f"replace {m} => {m} v0.{VERSION[2:]}\n" for m in sorted(parts))
    fetched("go", "mod", "tidy", cwd=source)
    flags = f"-s -w -X k8s.io/component-base/version.gitVersion=v{VERSION}"
    sh("nice", "-n", "19", "go", "build", "-ldflags", flags, "-o", f"{at}.new", ".", cwd=source,
       env={"CGO_ENABLED": "0"}, limit=900)
    os.rename(f"{at}.new", at)
    shutil.rmtree(source, ignore_errors=True)


class Plane(Daemons):
    """The daemons etcd, api, manager, scheduler."""

    def __init__(self, folder, program):
        super().__init__(folder)
        self.program = program
        self.port, self.etcd, self.token = commands.port(), commands.port(), os.urandom(12).hex()
        self.config = f"{folder}/kubeconfig"

    def env(self):
        """The environment of a command that asks this cluster with kubectl."""
        path = os.environ["PATH"]
        if not shutil.which("kubectl"):
            os.makedirs(f"{self.folder}/bin", exist_ok=True)
            with contextlib.suppress(FileExistsError):
                os.symlink(self.program, f"{self.folder}/bin/kubectl")
            path = f"{self.folder}/bin:{path}"
        return {**os.environ, "KUBECONFIG": self.config, "PATH": path}

    def part(self, name, *argv):
        link = f"{self.folder}/{PROGRAMS[name]}"
        if not os.path.exists(link):
            os.symlink(self.program, link)
        self.start(name, link, *argv)

    def api(self):
        """Starts the API server and waits until it is ready."""
        d, etcd = self.folder, f"http://127.0.0.1:{self.etcd}"
        self.part("api", "--etcd-servers", etcd, "--bind-address", "127.0.0.1", "--advertise-address", "127.0.0.1",
                  "--secure-port", str(self.port), "--cert-dir", d, "--service-account-key-file", f"{d}/sa.pub",
                  "--service-account-signing-key-file", f"{d}/sa.key", "--service-account-issuer", "https://real",
                  "--token-auth-file", f"{d}/tokens", "--authorization-mode", "RBAC", "--service-cluster-ip-range",
                  "10.0.0.0/24", "--kubelet-preferred-address-types", "InternalIP")
        for _ in range(600):
            with contextlib.suppress(OSError):
                self.ask("GET", "/readyz")
                return
            if self.daemons["api"].poll() is not None:
                break
            time.sleep(.2)
        with open(f"{d}/api.out") as log:
            raise Skip("the API server does not come up: " + log.read()[-300:])

    def up(self):
        d, peer = self.folder, f"http://127.0.0.1:{commands.port()}"
        sh("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{d}/sa.key", "-out", f"{d}/sa.crt",
           "-days", "2", "-subj", "/CN=real", cwd=d)
        with open(f"{d}/sa.pub", "w") as f:
            f.write(sh("openssl", "rsa", "-in", f"{d}/sa.key", "-pubout", cwd=d).split("writing RSA key\n")[-1])
        with open(os.open(f"{d}/tokens", os.O_CREAT | os.O_WRONLY, 0o600), "w") as f:
            f.write(f'{self.token},admin,1,"system:masters"\n')
        with open(os.open(self.config, os.O_CREAT | os.O_WRONLY, 0o600), "w") as f:
            f.write(CONFIG.format(port=self.port, token=self.token))
        url = f"http://127.0.0.1:{self.etcd}"
        self.start("etcd", "etcd", "--data-dir", f"{d}/etcd", "--listen-client-urls", url, "--advertise-client-urls",
                   url, "--listen-peer-urls", peer, "--unsafe-no-fsync")
        self.api()
        fast = ["--kubeconfig", self.config, "--leader-elect=false", "--bind-address", "127.0.0.1",
                "--kube-api-qps", "300", "--kube-api-burst", "500"]
        self.part("manager", *fast, "--concurrent-job-syncs", "20", "--use-service-account-credentials=false",
                  "--secure-port", str(commands.port()))
        self.part("scheduler", *fast, "--secure-port", str(commands.port()))

    def ask(self, method, path, body=None, kind="application/json"):
        """What the API server answers; an error of urllib where it refuses."""
        request = urllib.request.Request(
            f"https://127.0.0.1:{self.port}{path}", json.dumps(body).encode() if body is not None else None,
            {"Authorization": f"Bearer {self.token}", "Content-Type": kind}, method=method)
        with urllib.request.urlopen(request, context=ssl._create_unverified_context(), timeout=30) as answer:
            text = answer.read()
        return json.loads(text) if text[:1] == b"{" else text

    def down(self):
        for name in ["scheduler", "manager", "api", "etcd"]:
            if name in self.daemons:
                end(self.daemons[name])


MOST_LOG = 10 << 20  # bytes after which a kubelet begins another file
PODS = "/api/v1/namespaces/default/pods"


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class Kubelet:
    """The nodes n1, n2 …, each with devices for so many pods."""

    def __init__(self, plane, ttreport, nodes, devices, quick=None, ballast=0):
        """quick: the log of every pod, which then runs nothing and succeeds. ballast: bytes that cannot be compressed,
        which each pod adds to what it measured on a claim."""
        self.plane, self.ttreport, self.quick, self.folder = plane, ttreport, quick, f"{plane.folder}/pods"
        self.ballast, self.claims = ballast, {}
        self.pods, self.runs, self.evicted, self.stopping = {}, [], set(), False
        os.makedirs(self.folder, exist_ok=True)
        self.logs = ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(f"{plane.folder}/sa.crt", f"{plane.folder}/sa.key")
        self.logs.socket = tls.wrap_socket(self.logs.socket, server_side=True)
        for i in range(nodes):
            self.node(f"n{i + 1}", devices)
        self.threads = [threading.Thread(target=t) for t in (self.logs.serve_forever, self.loop, self.beat)]
        for t in self.threads:
            t.start()

    def node(self, name, devices):
        plane = self.plane
        with contextlib.suppress(urllib.error.HTTPError):  # there already
            plane.ask("POST", "/api/v1/nodes", {"metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}}})
        size = {"cpu": "64", "memory": "256Gi", "pods": "2000", "ttreport.dev/sim": str(devices)}
        self.patch(f"/api/v1/nodes/{name}/status", {
            "capacity": size, "allocatable": size, "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "lastHeartbeatTime": now()}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": self.logs.server_port}}})
        self.nodes = getattr(self, "nodes", []) + [name]

    def handler(self):
        kubelet = self

        class Logs(BaseHTTPRequestHandler):
            """Answers as /containerLogs/NAMESPACE/POD/CONTAINER of a kubelet does."""

            def do_GET(self):
                pod, data = self.path.split("?")[0].split("/")[3], b""
                if kubelet.quick:
                    data = kubelet.quick(pod)
                elif os.path.exists(f"{kubelet.folder}/{pod}.log"):
                    with open(f"{kubelet.folder}/{pod}.log", "rb") as f:
                        data = f.read()
                data = data[len(data) // MOST_LOG * MOST_LOG:]  # what was before is in a file that nobody reads
                if "tailLines=1" in self.path:
                    data = data.splitlines(keepends=True)[-1] if data else data
                self.send_response(200)
                self.end_headers()
                self.wfile.write(data)
                run = kubelet.pods.get(pod) if "follow=true" in self.path else None
                while run:  # until the pod has ended, and all that it printed is sent
                    ended, sent = run.poll() is not None, len(data)
                    with open(f"{kubelet.folder}/{pod}.log", "rb") as f:
                        data = f.read()
                    self.wfile.write(data[sent:])
                    self.wfile.flush()
                    run = None if ended else run
                    time.sleep(.1)

            def log_message(self, *_):
                pass

        return Logs

    def patch(self, path, status):
        return self.plane.ask("PATCH", path, {"status": status}, "application/merge-patch+json")

    def beat(self):
        """Keeps the nodes ready."""
        while not self.stopping:
            for name in self.nodes:
                with contextlib.suppress(OSError):
                    self.patch(f"/api/v1/nodes/{name}/status", {"conditions": [
                        {"type": "Ready", "status": "True", "reason": "KubeletReady", "lastHeartbeatTime": now()}]})
            time.sleep(5)

    def loop(self):
        while not self.stopping:
            with contextlib.suppress(OSError):  # the API server is away
                for pod in self.plane.ask("GET", PODS + "?fieldSelector=spec.nodeName%21%3D")["items"]:
                    self.turn(pod)
            time.sleep(.3)

    def turn(self, pod):
        """Does what is next for a pod."""
        name, run = pod["metadata"]["name"], self.pods.get(pod["metadata"]["name"])
        if pod["status"]["phase"] in ("Succeeded", "Failed"):
            return
        if pod["metadata"].get("deletionTimestamp"):
            if run:
                end(run)
            self.plane.ask("DELETE", f"{PODS}/{name}", {"gracePeriodSeconds": 0})
        elif self.quick:
            self.finish(pod, 0)
        elif not run:
            self.pods[name] = self.run(pod)
            pod["started"] = now()
            self.set(pod, "Running", {"running": {"startedAt": now()}}, startTime=now())
        elif name in self.evicted:
            end(run)
            self.finish(pod, run.returncode, reason="Evicted", conditions=[
                {"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}])
        elif run.poll() is not None:
            for journal in glob.glob(f"{self.claims.get(name)}/*/*/journal.jsonl"):
                ballast = f"{os.path.dirname(journal)}/ballast.bin"
                if not os.path.exists(ballast):  # what another index has written may have been read
                    with open(ballast, "wb") as f:
                        f.write(os.urandom(self.ballast))
            self.finish(pod, run.returncode)
        elif time.time() > run.deadline:
            end(run)
            self.finish(pod, run.returncode, reason="DeadlineExceeded")

    def finish(self, pod, code, **more):
        ended = {"exitCode": code % 256, "finishedAt": now(), "reason": "Error" if code else "Completed"}
        states = pod["status"].get("containerStatuses") or [{}]
        ended["startedAt"] = states[0].get("state", {}).get("running", {}).get("startedAt", now())
        self.set(pod, "Failed" if code or more else "Succeeded", {"terminated": ended}, **more)

    def set(self, pod, phase, state, **more):
        image = pod["spec"]["containers"][0]["image"]
        with contextlib.suppress(urllib.error.HTTPError):  # deleted meanwhile
            self.patch(f"{PODS}/{pod['metadata']['name']}/status", {"phase": phase, "containerStatuses": [
                {"name": "collect", "image": image, "imageID": image + "@sha256:" + 64 * "0", "ready": False,
                 "restartCount": 0, "state": state}], **more})

    def run(self, pod):
        """Starts the client of a pod, with folders of this host in place of its mounts."""
        name, spec = pod["metadata"]["name"], pod["spec"]
        client = spec["containers"][0]
        index = pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"]
        home = f"{self.folder}/{name}"
        os.makedirs(f"{home}/work")
        at, mounts = {}, {m["name"]: m for m in client["volumeMounts"]}
        for v in spec["volumes"]:
            mount = mounts[v["name"]]
            at[mount["mountPath"]] = folder = f"{home}/{v['name']}"
            if "persistentVolumeClaim" in v:  # the claim outlives the pod
                at[mount["mountPath"]] = folder = f"{self.folder}/claim/{mount['subPath']}"
                if not mount.get("readOnly"):
                    self.claims[name] = folder
            os.makedirs(folder, exist_ok=True)
            if "configMap" in v:
                self.files(v["configMap"], folder)

        def here(text):
            """A text with folders of this host."""
            text = text.replace("$(JOB_COMPLETION_INDEX)", index)
            return functools.reduce(lambda text, path: text.replace(path, at[path]), at, text)

        argv = [self.ttreport] + [here(a) for a in client["args"]]
        env = {e["name"]: here(e["value"]) for e in client.get("env", []) if "value" in e}
        env |= {"PATH": os.environ["PATH"], "HOME": f"{home}/work", "TMPDIR": f"{home}/work", "TTREPORT_POD": name,
                "TTREPORT_NODE": spec["nodeName"], "JOB_COMPLETION_INDEX": index}
        with open(f"{self.folder}/{name}.log", "w") as log:
            run = subprocess.Popen(argv, cwd=f"{home}/work", env=env, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        run.deadline = time.time() + spec.get("activeDeadlineSeconds", 1e9)
        self.runs.append((name, spec["nodeName"]))
        return run

    def files(self, of, folder):
        """Writes the files of a ConfigMap."""
        data = self.plane.ask("GET", f"/api/v1/namespaces/default/configmaps/{of['name']}")["data"]
        for item in of["items"]:
            with open(f"{folder}/{item['path']}", "w") as f:
                f.write(data[item["key"]])

    def down(self):
        self.stopping = True
        self.logs.shutdown()
        for t in self.threads:
            t.join()
        for run in self.pods.values():
            end(run)


def kubernetes(work):
    """A control plane that runs within a with statement."""
    if not shutil.which("etcd"):
        apt("etcd-server")
    return Plane(f"{work}/plane", prepare().done()).running()
