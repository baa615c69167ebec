"""A Slurm cluster of one test on this machine, wholly unprivileged: munged, slurmctld and any
number of slurmd, without cgroups and systemd. Needs the packages slurmctld, slurmd, slurm-client
and munge."""

import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import time

import harness

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "sinfo", "scontrol")
CONFIGURATION = """\
ClusterName=reprise
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
CryptoType=crypto/munge
SlurmctldPort={controller_port}
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmdLogFile={folder}/slurmd-%n.log
SlurmdSpoolDir={folder}/spool-%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SwitchType=switch/none
MpiDefault=none
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/jobcomp.txt
ReturnToService=2
SlurmdTimeout=10
MessageTimeout=5
MinJobAge=100000
RequeueExit=75
NodeName={names} NodeHostname={host} NodeAddr=127.0.0.1 Port={ports} CPUs=1 State=UNKNOWN
PartitionName=all Nodes={usual} Default=YES MaxTime=INFINITE State=UP
PartitionName=other Nodes={other} MaxTime=INFINITE State=UP
"""


def is_installed():
    path = os.environ["PATH"] + ":/usr/sbin"
    return all(shutil.which(each, path=path) for each in PROGRAMS)


class Cluster:
    """Daemons run in the foreground, as children of this process: they end with stop(). One more
    node is in a partition that is not the default one."""

    def __init__(self, folder, nodes=3, wrapper_of=None):
        self.folder = pathlib.Path(folder)
        self.nodes = [f"n{number}" for number in range(1, nodes + 2)]
        self.wrapper_of = wrapper_of or {}
        self.folder.mkdir(mode=0o755)
        ports = harness.free_ports(*(nodes + 2) * [harness.LOOPBACK])
        user = pwd.getpwuid(os.getuid()).pw_name
        for name in ("state", *(f"spool-{node}" for node in self.nodes)):
            (self.folder / name).mkdir(mode=0o755)
        self.configuration = self.folder / "slurm.conf"
        self.configuration.write_text(CONFIGURATION.format(
            host=socket.gethostname(), user=user, folder=self.folder, controller_port=ports[0],
            names=f"n[1-{nodes + 1}]", usual=f"n[1-{nodes}]", other=self.nodes[-1],
            ports=f"[{','.join(map(str, ports[1:]))}]"))
        self.environment = {**os.environ, "SLURM_CONF": str(self.configuration),
                            "PATH": os.environ["PATH"] + ":/usr/sbin"}
        self.processes = {}
        key = self.folder / "munge.key"
        key.write_bytes(bytes(range(256)) * 4)
        key.chmod(0o600)
        self.start("munged", "munged", "--foreground", "--force", "--socket",
                   str(self.folder / "munge.sock"), "--key-file", str(key), "--log-file",
                   str(self.folder / "munged.log"), "--pid-file", str(self.folder / "munged.pid"),
                   "--seed-file", str(self.folder / "munge.seed"))
        self.wait(lambda: (self.folder / "munge.sock").exists(), "munged")
        self.start_controller()
        for node in self.nodes:
            self.start_node(node)
        self.wait(lambda: self.idle_nodes() > nodes, "all nodes idle")

    def start(self, name, *command):
        with open(self.folder / f"{name}.out", "ab") as output:
            self.processes[name] = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                env=self.environment, start_new_session=True)

    def start_controller(self):
        self.start("slurmctld", "slurmctld", "-D", "-i")

    def start_node(self, node):
        self.start(node, *self.wrapper_of.get(node, ()), "slurmd", "-D", "-N", node)

    def kill(self, name):
        self.processes[name].kill()
        self.processes[name].wait()

    def run(self, *command):
        return subprocess.run(command, capture_output=True, env=self.environment, text=True,
                              timeout=60, check=False)

    def idle_nodes(self):
        listed = self.run("sinfo", "--noheader", "--Node", "--format=%N %T").stdout
        return sum(line.split()[1] == "idle" for line in listed.splitlines() if line.strip())

    def running(self):
        """[(job, node)] of the tasks that run now."""
        listed = self.run("squeue", "--noheader", "--array", "--states=RUNNING",
                          "--format=%i %N %j").stdout
        return [tuple(line.split()) for line in listed.splitlines()]

    def wait(self, is_done, what, seconds=120):
        """For what daemons do by themselves, and nobody reports."""
        ends = time.monotonic() + seconds
        while not is_done():
            if time.monotonic() > ends:
                raise AssertionError(f"no {what} within {seconds} s:\n{self.logs()}")
            time.sleep(0.2)

    def logs(self):
        return "\n".join(f"{path.name}:\n" + path.read_text(errors="replace")[-2000:]
                         for path in sorted(self.folder.glob("*.log")))

    def stop(self):
        self.run("scancel", "--me")
        for name, process in reversed(list(self.processes.items())):
            if process.poll() is not None:
                continue
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill(name)
