"""A real Slurm cluster of several nodes on one host, without systemd, by process id, on loopback.

Each daemon has a UTS namespace of its own, so that nodes have different names, and what runs on a node can be told by
it. There is no accounting: sacct does not work, as on many small clusters.
"""
import contextlib, os, shutil, socket, subprocess, time

from commands import end
from servers import Daemons, Skip, apt

CONF = """ClusterName=real
SlurmctldHost=ctl(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={d}/munge.socket,cred_expire=5
CredType=cred/munge
StateSaveLocation={d}/state
SlurmdSpoolDir={d}/spool/%n
SlurmctldPidFile={d}/slurmctld.pid
SlurmdPidFile={d}/%n.pid
SlurmctldLogFile={d}/slurmctld.log
SlurmdLogFile={d}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SwitchType=switch/none
MpiDefault=none
PropagateResourceLimits=NONE
ReturnToService=2
SchedulerParameters=sched_interval=2,batch_sched_delay=0
KillWait=5
InactiveLimit=0
SlurmdTimeout=10
SlurmctldTimeout=10
MessageTimeout=5
SlurmdParameters=config_overrides
NodeName=n[1-{nodes}] NodeAddr=127.0.0.1 Port=[{first}-{last}] CPUs=2 State=UNKNOWN
PartitionName=bench Nodes=n[1-{nodes}] Default=YES MaxTime=60 State=UP
"""


def free_ports(n):
    """The first of n neighbouring ports that are free."""
    for port in range(21000, 30000, n):
        try:
            with contextlib.ExitStack() as held:
                for p in range(port, port + n):
                    held.enter_context(socket.socket()).bind(("127.0.0.1", p))
            return port
        except OSError:
            continue
    raise Skip("no free ports")


class Cluster(Daemons):
    """The daemons munged, ctl, n1, n2 …"""

    def __init__(self, folder, nodes):
        super().__init__(folder)
        self.nodes = nodes

    def daemon(self, name):
        """Starts slurmctld, or the slurmd of a node."""
        program = "slurmctld -D" if name == "ctl" else "slurmd -D"
        self.start(name, "unshare", "--uts", "sh", "-c", f"hostname {name} && exec {program}")

    def up(self):
        port = free_ports(self.nodes + 1)
        with open(f"{self.folder}/slurm.conf", "w") as f:
            f.write(CONF.format(d=self.folder, port=port, first=port + 1, last=port + self.nodes, nodes=self.nodes))
        with open(f"{self.folder}/cgroup.conf", "w") as f:
            f.write("CgroupPlugin=cgroup/v1\n")  # the plugins above do not touch it
        with open(os.open(f"{self.folder}/munge.key", os.O_CREAT | os.O_WRONLY, 0o600), "wb") as f:
            f.write(os.urandom(128))
        for name in ["state", "spool"] + [f"spool/n{i + 1}" for i in range(self.nodes)]:
            os.makedirs(f"{self.folder}/{name}")
        self.start("munged", "munged", "--foreground", "--force", f"--key-file={self.folder}/munge.key",
                   f"--socket={self.folder}/munge.socket", f"--pid-file={self.folder}/munge.pid",
                   f"--log-file={self.folder}/munge.log", f"--seed-file={self.folder}/munge.seed")
        while not os.path.exists(f"{self.folder}/munge.socket"):
            time.sleep(.05)
        os.environ["SLURM_CONF"] = f"{self.folder}/slurm.conf"
        for name in ["ctl"] + [f"n{i + 1}" for i in range(self.nodes)]:
            self.daemon(name)
        for _ in range(600):
            idle = subprocess.run(["timeout", "5", "sinfo", "-h", "-t", "idle", "-o", "%D"], capture_output=True)
            if idle.stdout.strip() == str(self.nodes).encode():
                return
            time.sleep(.2)
        with open(f"{self.folder}/ctl.out") as log:
            raise Skip("Slurm does not come up: " + log.read()[-300:])

    def processes(self, name):
        """The processes of a node: those in its UTS namespace."""
        try:
            space = os.readlink(f"/proc/{self.daemons[name].pid}/ns/uts")
        except OSError:
            return []
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                if os.readlink(f"/proc/{pid}/ns/uts") == space:
                    found.append(int(pid))
        return found

    def kill(self, name):
        """Ends a node as a power cut does."""
        pids = self.processes(name)
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, 9)
        self.daemons[name].wait()
        return len(pids)

    def stop(self, name):
        """Ends a daemon in order. A controller that is killed before it saved its state takes the jobs that run for
        duplicates of those that wait, and drains their nodes."""
        end(self.daemons[name])

    def down(self):
        for name in sorted(self.daemons, key=["munged", "ctl"].__contains__):
            for pid in self.processes(name) if name.startswith("n") else []:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, 9)
            end(self.daemons[name])


@contextlib.contextmanager
def slurm(work, nodes):
    """Runs a cluster; SLURM_CONF names it."""
    if os.geteuid():
        raise Skip("a Slurm of our own needs root")
    if not shutil.which("slurmctld") or not shutil.which("munged"):
        apt("slurmctld", "slurmd", "slurm-client", "munge", "slurm-wlm-basic-plugins")
    if subprocess.run(["unshare", "--uts", "true"], capture_output=True).returncode:
        raise Skip("this machine allows no namespaces")
    os.chmod(work, 0o755)
    try:
        with Cluster(f"{work}/cluster", nodes).running() as cluster:
            yield cluster
    finally:
        os.environ.pop("SLURM_CONF", None)
