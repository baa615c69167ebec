#!/usr/bin/env python3
"""`reprise shape`: a command behind a link, what it may and may not do, and what is left of it."""

import collections
import fcntl
import hashlib
import http.server
import json
import os
import pathlib
import resource
import select
import shutil
import signal
import socket
import subprocess
import sys
import termios
import threading
import time
import xml.etree.ElementTree

import harness

HOST = "192.0.2.1"  # this machine's loopback, to the command
PYTHON = "/usr/bin/python3"
NOBODY = 65534

DOWNLOAD = f"""
import hashlib, sys, urllib.request
opener = urllib.request.build_opener(urllib.request.ProxyHandler({{}}))
for port in sys.argv[1:]:
    body = opener.open(f"http://{HOST}:{{port}}/").read()
    print(len(body), hashlib.sha256(body).hexdigest())
"""

UPLOAD = f"""
import socket, sys
sock = socket.create_connection(("{HOST}", int(sys.argv[1])))
sock.sendall(b"u" * 300000)
sock.shutdown(socket.SHUT_WR)
print(sock.makefile().read())
"""

# Reads nothing before it has sent everything.
REFUSED_UPLOAD = f"""
import socket, sys
sock = socket.create_connection(("{HOST}", int(sys.argv[1])))
size, was_reset = 0, False
try:
    sock.sendall(b"u" * 2000000)
except ConnectionError:
    was_reset = True
try:
    while part := sock.recv(65536):
        size += len(part)
except ConnectionError:
    was_reset = True
print(size, was_reset)
"""
REFUSAL = b"r" * 100000

MANY = 200
CONNECTIONS = f"""
import socket, sys
all = [socket.create_connection(("{HOST}", int(sys.argv[1]))) for _ in range({MANY})]
print(sum(len(each.recv(1)) for each in all))
"""

TRIES_MAX = 4
DATAGRAM_COUNT = 2000
BURST = 200
# When a connection stands or has been reset, what was sent before it has crossed the link. Bursts
# wait for that, so that nothing but the link may drop.
DATAGRAMS = f"""
import socket
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range({DATAGRAM_COUNT} // {BURST}):
    for _ in range({BURST}):
        sock.sendto(b"x" * 100, ("{HOST}", 9))
    socket.socket().connect_ex(("{HOST}", 80))
"""


class Body(http.server.BaseHTTPRequestHandler):
    content = bytes(range(256)) * 4000

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.content)))
        self.end_headers()
        self.wfile.write(self.content)

    def log_message(self, *_):
        pass


def command(*arguments, link="20mbit/20mbit/10ms"):
    return [harness.REPRISE, "shape", "--link", link, "--no-selfcheck", *arguments]


def run(*arguments, check=True, **options):
    done = subprocess.run(command(*arguments, **options), capture_output=True, text=True,
                          timeout=harness.DEADLINE_SECONDS, stdin=subprocess.DEVNULL)
    if check and done.returncode:
        raise AssertionError(f"exit {done.returncode}: {done.stderr}")
    return done


class Shape(harness.TestCase):
    def site(self, handler=Body):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server.server_address[1]

    def report(self, *arguments, **options):
        """Runs, and returns the report and what the command said. Again where the machine stopped
        for so long that packets found no room before the link could take them."""
        file = self.folder / "report.json"
        for _ in range(TRIES_MAX):
            done = run("--report", str(file), *arguments, **options)
            report = json.loads(file.read_text())
            if report["outside_drops"]["ring"] == 0:
                break
        return report, done.stdout

    def assert_conserved(self, report):
        for side in ("down", "up"):
            counted = report[side]
            ends = ("packets_out", "lost", "outage_drops", "queue_drops", "aqm_drops", "queued",
                    "in_flight")
            self.assertEqual(counted["packets_in"], sum(counted[end] for end in ends), counted)
        self.assertEqual(sum(report["outside_drops"].values()), 0, report["outside_drops"])

    def test_the_exit_status_is_the_commands(self):
        for status in (0, 7):
            done = run("--", "sh", "-c", f"exit {status}", check=False)
            self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(run("--", "sh", "-c", "kill -9 $$", check=False).returncode, 137)
        missing = run("--", "/no/such/program", check=False)
        self.assertEqual(missing.returncode, 127)
        self.assertIn("/no/such/program", missing.stderr)

    def test_environment_folder_and_arguments_are_kept(self):
        os.environ["REPRISE_TEST_MARK"] = "kept"
        done = run("--", "sh", "-c", 'echo "$REPRISE_TEST_MARK $PWD $1"', "sh", "a b")
        self.assertEqual(done.stdout, f"kept {os.getcwd()} a b\n")

    def test_the_command_has_the_callers_ids_and_hardly_a_capability(self):
        """Root has two: Firefox's sandbox fails without CAP_SETFCAP, ping without CAP_NET_RAW. A
        user has none, but may execute a file that has the latter."""
        setfcap, net_raw = 1 << 31, 1 << 13
        root = os.getuid() == 0
        status = run("--", "cat", "/proc/self/status").stdout
        fields = dict(line.split(":", 1) for line in status.splitlines())
        self.assertEqual(fields["Uid"].split(), [str(os.getuid())] * 4)
        held = setfcap | net_raw if root else 0
        for name, allowed in {"CapInh": 0, "CapPrm": held, "CapEff": held,
                              "CapBnd": held | net_raw, "CapAmb": 0}.items():
            self.assertEqual(int(fields[name], 16) & ~allowed, 0, name)

    def test_it_has_as_many_connections_as_the_user_may(self):
        with socket.create_server(("127.0.0.1", 0), backlog=MANY) as server:
            def serve():
                held = [server.accept()[0] for _ in range(MANY)]
                for each in held:
                    each.sendall(b"x")
                    each.close()
            threading.Thread(target=serve, daemon=True).start()
            port = server.getsockname()[1]
            _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
            done = subprocess.run(
                command("--", PYTHON, "-c", CONNECTIONS, str(port)), capture_output=True,
                text=True, timeout=harness.DEADLINE_SECONDS, preexec_fn=lambda:
                resource.setrlimit(resource.RLIMIT_NOFILE, (MANY + 50, most)))
        self.assertEqual(done.stdout, f"{MANY}\n", done.stderr)

    def test_ping_runs_and_sees_the_round_trip(self):
        # Without -w it waits for the last answer only twice as long as the others took.
        ping = ["ping", "-c", "3", "-w", "20", "-i", "0.2", HOST]
        users = [[]] if os.getuid() else [[], ["setpriv", f"--reuid={NOBODY}", "--clear-groups"]]
        for user in users:
            with self.subTest(user):
                done = subprocess.run(
                    [*user, *command("--", *ping)], capture_output=True, text=True,
                    timeout=harness.DEADLINE_SECONDS, stdin=subprocess.DEVNULL)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("3 received", done.stdout)
                fastest = float(done.stdout.split("min/avg/max")[1].split("=")[1].split("/")[0])
                self.assertGreaterEqual(fastest, 10)

    def test_bytes_cross_the_link_both_ways_and_packets_are_conserved(self):
        port = self.site()
        report, out = self.report("--ports", str(port), "--", PYTHON, "-c", DOWNLOAD, str(port))
        size = len(Body.content)
        self.assertEqual(out.split(), [str(size), hashlib.sha256(Body.content).hexdigest()])
        self.assert_conserved(report)
        self.assertGreater(report["down"]["bytes_out"], size)
        self.assertEqual(report["lateness"]["packets"],
                         report["down"]["packets_out"] + report["up"]["packets_out"])

    def test_an_upload_that_is_half_closed_gets_its_answer(self):
        def answer(connection):
            body = b"".join(iter(lambda: connection.recv(65536), b""))
            connection.sendall(str(len(body)).encode())
            connection.close()

        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
            threading.Thread(target=lambda: answer(listener.accept()[0]), daemon=True).start()
            done = run("--ports", str(port), "--", PYTHON, "-c", UPLOAD, str(port))
        self.assertEqual(done.stdout.strip(), "300000")

    def test_an_early_answer_arrives_before_the_reset_that_follows_it(self):
        """A server that does not read the whole upload resets the connection when it closes it."""
        def refuse(connection):
            connection.recv(1)
            connection.sendall(REFUSAL)
            while any(fcntl.ioctl(connection, termios.TIOCOUTQ, bytes(4))):
                time.sleep(0.001)  # a reset would cut off what the relay does not have yet
            connection.close()

        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
            threading.Thread(target=lambda: refuse(listener.accept()[0]), daemon=True).start()
            done = run("--ports", str(port), "--", PYTHON, "-c", REFUSED_UPLOAD, str(port))
        self.assertEqual(done.stdout.split(), [str(len(REFUSAL)), "True"])

    def test_a_port_where_nothing_listens_is_an_error_to_the_command(self):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            port = str(unused.getsockname()[1])
            done = run("--ports", port, "--", PYTHON, "-c", DOWNLOAD, port, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("Error", done.stderr)

    def test_loss_repeats_with_the_seed(self):
        def lost(seed):
            log = self.folder / "packets.log"
            report, _ = self.report("--link-seed", str(seed), "--link-log", str(log), "--", PYTHON,
                                    "-c", DATAGRAMS, link="none,loss=5%")
            self.assert_conserved(report)
            fates = collections.Counter()
            indices = set()
            for line in log.read_text().splitlines()[1:]:
                _, side, index, _, fate, _, _ = line.split()
                if side != "up" or int(index) >= DATAGRAM_COUNT:
                    continue
                fates[fate] += 1
                if fate == "lost":
                    indices.add(int(index))
            self.assertEqual(sum(fates.values()), DATAGRAM_COUNT)
            self.assertGreaterEqual(report["up"]["lost"], len(indices))
            return indices

        first = lost(1)
        self.assertTrue(50 < len(first) < 170, len(first))
        self.assertEqual(first, lost(1))
        self.assertNotEqual(first, lost(2))

    def test_two_runs_at_once_keep_out_of_each_others_way(self):
        meeting = threading.Barrier(2)

        class BothAtOnce(Body):
            def do_GET(self):
                meeting.wait(harness.DEADLINE_SECONDS)
                super().do_GET()

        port = str(self.site(BothAtOnce))
        script = f"readlink /proc/self/ns/net; exec {PYTHON} -c '{DOWNLOAD}' {port}"
        for _ in range(TRIES_MAX):  # as in report()
            runs = self.two_at_once("--ports", port, "--", "sh", "-c", script)
            if all(report["outside_drops"]["ring"] == 0 for _, report in runs):
                break
        networks = {os.readlink("/proc/self/ns/net")}
        for out, report in runs:
            network, size, digest = out.split()
            networks.add(network)
            self.assertEqual((size, digest), (str(len(Body.content)),
                                              hashlib.sha256(Body.content).hexdigest()))
            self.assert_conserved(report)
            # Each link carried its own command's packets, and nothing else.
            self.assertTrue(1 < report["down"]["bytes_out"] / len(Body.content) < 2, report)
        self.assertEqual(len(networks), 3, networks)

    def two_at_once(self, *arguments):
        """What the command said, and the report, of each."""
        files = [self.folder / name for name in ("first.json", "second.json")]
        running = []
        for file in files:
            running.append(subprocess.Popen(command("--report", str(file), *arguments), text=True,
                                            stdout=subprocess.PIPE, stderr=subprocess.PIPE))
            self.addCleanup(running[-1].kill)
        runs = []
        for process, file in zip(running, files):
            out, err = process.communicate(timeout=harness.DEADLINE_SECONDS)
            self.assertEqual(process.returncode, 0, err)
            runs.append((out, json.loads(file.read_text())))
        return runs

    def test_the_report_has_the_link_the_seed_and_the_self_check(self):
        file = self.folder / "report.json"
        subprocess.run([harness.REPRISE, "shape", "--link", "wpt:cable", "--link-seed", "5",
                        "--congestion", "reno", "--report", str(file), "--", "true"], check=True,
                       timeout=harness.DEADLINE_SECONDS)
        report = json.loads(file.read_text())
        self.assertEqual((report["shaper"], report["link_seed"], report["congestion"]),
                         ("packet", 5, "reno"))
        self.assertEqual(report["link"]["down"]["rate_bps"], 5_000_000)
        self.assertEqual(report["self_check"]["down"]["expected_bps"], 5_000_000)
        self.assertGreater(report["self_check"]["up"]["packets_come"], 0)
        # What the self-check sent is not the command's.
        self.assertEqual(report["down"]["packets_in"], 0)

    def test_the_plot_shows_both_directions(self):
        port = self.site()
        plot = self.folder / "plot.svg"
        run("--plot", str(plot), "--ports", str(port), "--", PYTHON, "-c", DOWNLOAD, str(port),
            link="8mbit/1mbit/20ms,queue=10p")
        svg = xml.etree.ElementTree.parse(plot).getroot()
        texts = [each.text for each in svg.iter("{http://www.w3.org/2000/svg}text")]
        self.assertTrue(texts[0].startswith("8mbit/1mbit/20ms,queue=10p, seed "), texts)
        for expected in ("Down, to the client", "Up, from the client", "Rate (Mbit/s)"):
            self.assertIn(expected, texts)
        self.assertNotIn("no packets", texts)
        # A queue of ten packets drops some of a megabyte.
        self.assertTrue(any(text.endswith(" dropped") for text in texts), texts)

    def test_a_plot_that_cannot_be_written_is_said(self):
        done = run("--plot", str(self.folder / "none" / "plot.svg"), "--", "true", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("No such file or directory", done.stderr)

    def test_what_is_wrong_with_the_arguments_is_said(self):
        done = run("--", "true", link="fast", check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("fast", done.stderr)
        self.assertEqual(run(check=False).returncode, 2)


class Ending(harness.TestCase):
    """Who ends takes the others along."""

    def start(self, script):
        """Starts the script, waits for its first line, and returns the process and that line."""
        process = subprocess.Popen(command("--", "sh", "-c", script), stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.finish, process)
        line = process.stdout.readline().strip()
        self.assertTrue(line)
        return process, line

    def finish(self, process):
        process.kill()
        process.communicate()

    def descendants(self, pid):
        """Descriptors of all processes below `pid`, so that their numbers cannot mislead."""
        found = []
        for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            found.append(os.pidfd_open(int(child)))
            self.addCleanup(os.close, found[-1])
            found += self.descendants(int(child))
        return found

    def assert_ends(self, processes):
        for process in processes:
            self.assertTrue(select.select([process], [], [], harness.DEADLINE_SECONDS)[0])

    def test_a_signal_reaches_the_command(self):
        process, _ = self.start("trap 'exit 42' TERM; echo ready; while :; do sleep 1; done")
        process.terminate()
        self.assertEqual(process.wait(harness.DEADLINE_SECONDS), 42)

    def test_what_the_command_left_behind_ends_with_it(self):
        process, _ = self.start("setsid sleep 1000 & setsid sleep 1000 & echo ready; read _")
        below = self.descendants(process.pid)
        self.assertGreaterEqual(len(below), 3)
        process.terminate()
        process.wait(harness.DEADLINE_SECONDS)
        self.assert_ends(below)

    def test_nothing_is_left_when_reprise_is_killed(self):
        process, _ = self.start("setsid sleep 1000 & echo ready; read _")
        below = self.descendants(process.pid)
        self.assertGreaterEqual(len(below), 3)
        process.kill()
        self.assert_ends(below)

    def test_reprise_ends_when_the_commands_init_is_killed(self):
        process, _ = self.start("echo ready; read _")
        below = self.descendants(process.pid)
        signal.pidfd_send_signal(below[0], signal.SIGKILL)
        self.assertEqual(process.wait(harness.DEADLINE_SECONDS), 137)
        self.assert_ends(below)


class OrdinaryUser(harness.TestCase):
    def test_an_ordinary_user_needs_no_privileges(self):
        if os.geteuid() != 0:
            return  # then all tests show it
        os.chmod(self.folder, 0o755)
        binary = pathlib.Path(shutil.copy(harness.REPRISE, self.folder))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Body)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        port = str(server.server_address[1])
        done = subprocess.run(
            [str(binary), "shape", "--link", "20mbit/20mbit/10ms", "--ports", port, "--", "sh",
             "-c", f"id -u; exec {PYTHON} -c '{DOWNLOAD}' {port}"],
            capture_output=True, text=True, timeout=harness.DEADLINE_SECONDS, cwd="/", user=NOBODY,
            group=NOBODY, extra_groups=[], stdin=subprocess.DEVNULL)
        if done.returncode == 4:
            print("no user namespaces here:", done.stderr)
            return
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.split()[:2], [str(NOBODY), str(len(Body.content))])


class NoRealTime(harness.TestCase):
    """A user without the right to real-time priority asks for it."""

    def refused(self, *arguments):
        drop = ["setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice"]
        done = subprocess.run(
            ["prlimit", "--rtprio=0", *(drop if os.geteuid() == 0 else []), harness.REPRISE,
             *arguments, "--", "echo", "has run"], capture_output=True, text=True,
            timeout=harness.DEADLINE_SECONDS, stdin=subprocess.DEVNULL,
            env=harness.environment(self.folder))
        self.assertEqual((done.returncode, done.stdout), (4, ""), done.stderr)
        self.assertIn("cannot get real-time priority", done.stderr)
        self.assertIn("ulimit -r", done.stderr)

    def test_shape_says_what_to_do_before_the_command_starts(self):
        for more in ([], ["--no-selfcheck"]):
            self.refused("shape", "--link", "none", "--realtime", *more)

    def test_so_do_record_and_replay(self):
        archive = str(self.folder / "a.reprise")
        recorder = self.record(archive)
        self.assertEqual(recorder.stop(), 0, recorder.log())
        for mode in (["record", "-o", str(self.folder / "b.reprise")], ["replay", archive]):
            self.refused(*mode, "--link", "none", "--realtime", "--no-selfcheck")


class NoPrivileges(harness.TestCase):
    """In a user namespace that can have no further ones, without capabilities."""

    def without_privileges(self, *arguments):
        allowed = subprocess.run(["unshare", "--user", "--map-root-user", "true"], check=False,
                                 capture_output=True)
        if allowed.returncode:
            self.skipTest(allowed.stderr.decode())
        script = 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"'
        return subprocess.run(
            ["unshare", "--user", "--map-root-user", "sh", "-c", script, "sh", "setpriv",
             "--bounding-set=-all", "--inh-caps=-all", *arguments], capture_output=True, text=True,
            timeout=harness.DEADLINE_SECONDS, stdin=subprocess.DEVNULL,
            env=harness.environment(self.folder))

    def test_what_is_missing_is_said_and_what_to_do(self):
        done = self.without_privileges(*command("--", "echo", "has run"))
        self.assertEqual((done.returncode, done.stdout), (4, ""), done.stderr)
        self.assertIn("cannot create user and network namespaces", done.stderr)
        self.assertIn("sudo sysctl user.max_user_namespaces=", done.stderr)

    def test_the_doctor_says_it_too(self):
        done = self.without_privileges(harness.REPRISE, "doctor", "--json")
        checks = {each["name"]: each for each in json.loads(done.stdout)["checks"]}
        self.assertFalse(checks["packet link"]["ok"])
        self.assertIn("cannot create user and network namespaces", checks["packet link"]["detail"])
        self.assertIn("sudo sysctl user.max_user_namespaces=", checks["packet link"]["fix"])

    def test_the_doctor_knows_whether_chromium_has_a_sandbox(self):
        for namespaces, ok in ((0, False), (100, True)):
            script = (f"echo {namespaces} >/proc/sys/user/max_user_namespaces && exec setpriv "
                      "--bounding-set=-all --inh-caps=-all --ambient-caps=-all \"$@\"")
            done = subprocess.run(
                ["unshare", "--user", "--map-user=1000", "--map-group=1000", "--keep-caps", "sh",
                 "-c", script, "sh", harness.REPRISE, "doctor", "--json"], capture_output=True,
                text=True, check=False, timeout=harness.DEADLINE_SECONDS,
                stdin=subprocess.DEVNULL, env=harness.environment(self.folder))
            self.assertNotEqual(done.stdout, "", done.stderr)
            checks = {each["name"]: each for each in json.loads(done.stdout)["checks"]}
            self.assertEqual((checks["sandbox"]["ok"], checks["sandbox"]["needed"]), (ok, True))
            for remedy in ("chromium-sandbox", "seccomp=unconfined", "--no-sandbox"):
                self.assertEqual(remedy in checks["sandbox"]["fix"], not ok)

    def test_the_doctor_knows_where_it_works(self):
        done = harness.run("doctor", "--json", folder=self.folder)
        checks = {each["name"]: each for each in json.loads(done.stdout)["checks"]}
        self.assertEqual(checks["packet link"]["fix"], "")
        self.assertTrue(checks["packet link"]["ok"])


def main():
    done = run("--", "true", check=False)
    if done.returncode == 4:
        print("skipped:", done.stderr)
        sys.exit(harness.SKIPPED)
    harness.main()


if __name__ == "__main__":
    main()
