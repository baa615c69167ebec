"""nginx as an origin: of any configuration, and of several hosts over HTTPS."""

import os
import subprocess
from typing import NamedTuple

import harness
from wire import Certificate, DEADLINE_SECONDS

NGINX = "/usr/sbin/nginx"
SERVER = """
  server {{
    listen {address}:{port} ssl {h2}; server_name {name};
    ssl_certificate {leaf}; ssl_certificate_key {key}; ssl_protocols TLSv1.2 TLSv1.3;{locations}
  }}"""
LOCATION = """
    location = {path} {{
      root {folder}; try_files /{number} =404; etag off;
      types {{}} default_type "{kind}";{fields}
    }}"""
CONFIG = """
daemon off; worker_processes 1; error_log {folder}/error.log; pid {folder}/pid; {user}
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
  uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5; {servers}
}}
"""


def command(folder, servers):
    """Serves `servers`, text of an http block, with all its files in `folder`."""
    config = folder / "nginx.conf"
    config.write_text(CONFIG.format(folder=folder, servers=servers,
                                    user="user root;" if os.geteuid() == 0 else ""))
    return [NGINX, "-e", folder / "error.log", "-c", config]


def start(folder, servers):
    """The process, which listens. Ends with stop()."""
    process = subprocess.Popen(command(folder, servers), stdin=subprocess.DEVNULL)
    try:
        for _ in harness.watch_folder(folder, process.pid):
            if (folder / "pid").exists():  # written once it listens
                return process
            if process.poll() is not None:
                break
        raise AssertionError((folder / "error.log").read_text())
    except BaseException:  # also of an interrupted test
        stop(process)
        raise


def stop(process):
    """In order, so that what is buffered is written."""
    process.terminate()
    process.wait(DEADLINE_SECONDS)


class Host(NamedTuple):
    """`files` by path: media type, body, and (name, value) of more fields."""
    address: str
    certificate: Certificate
    files: dict[str, tuple[str, bytes, list[tuple[str, str]]]]
    h2: bool = True


class NginxSite:
    """`hosts` by name, each at a port of its own."""

    def __init__(self, folder, hosts):
        self.hosts = hosts
        folder.mkdir(parents=True)
        locations = {name: self._locations(folder / name, host.files)
                     for name, host in hosts.items()}

        def start_at(*ports):
            servers = ""
            for (name, host), port in zip(hosts.items(), ports):
                leaf = host.certificate.leaf_file
                servers += SERVER.format(address=host.address, port=port, name=name,
                                         h2="http2" if host.h2 else "", leaf=leaf,
                                         key=leaf.with_suffix(".key"), locations=locations[name])
            return start(folder, servers)
        self.process, *ports = harness.at_free_ports(
            start_at, *(host.address for host in hosts.values()))
        self.ports = dict(zip(hosts, ports))

    @staticmethod
    def _locations(folder, files):
        folder.mkdir()
        text = ""
        for number, (path, (kind, body, fields)) in enumerate(files.items()):
            (folder / str(number)).write_bytes(body)
            more = "".join(f' add_header {name} "{value}" always;' for name, value in fields)
            text += LOCATION.format(path=path, folder=folder, number=number, kind=kind,
                                    fields=more)
        return text

    def connect_to(self):
        for name, port in self.ports.items():
            yield from ("--connect-to", f"{name}:443:{self.hosts[name].address}:{port}")

    def connect_arguments(self):
        yield from self.connect_to()
        yield "--insecure-origin"

    def close(self):
        stop(self.process)
