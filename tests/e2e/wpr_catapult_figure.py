#!/usr/bin/env python3
"""Catapult's own ReplayServer and TsProxyServer, unmodified, start `wpr` and `tsproxy`, probe them,
record, record again, serve behind the proxy, change its settings and stop them.

CATAPULT names a checkout of catapult-project/catapult; without it nothing is tried. Needs Python's
six (Debian: python3-six)."""

import os
import pathlib
import socket
import sys
import tempfile
import time
import types

import figure
import harness
import wire
import wpr_case

RTT_MS = 100


def answer(request):
    page = f"<!doctype html><html><head></head><body>{request.target}</body></html>".encode()
    return wire.response(page, headers=b"Content-Type: text/html\r\n")


class Catapult:
    """Its classes, with our binary where they look for theirs."""

    def __init__(self, root, folder):
        for part in ("common/py_utils", "devil", "dependency_manager"):
            sys.path.insert(0, str(root / part))
        from py_utils import ts_proxy_server, webpagereplay_go_server
        self.replay_server = webpagereplay_go_server.ReplayServer
        self.replay_server.SetGoBinaryPath(str(wpr_case.wpr_binary(folder)))
        # It runs a Python script by a path of its own.
        tsproxy, script = folder / "tsproxy", folder / "tsproxy.py"
        tsproxy.symlink_to(os.path.abspath(harness.REPRISE))
        script.write_text(f"import os, sys\nos.execv({str(tsproxy)!r}, ['tsproxy'] + sys.argv[1:])")
        ts_proxy_server._TSPROXY_PATH = str(script)
        self.ts_proxy_server = ts_proxy_server.TsProxyServer
        self.hash = (root / "web_page_replay_go/wpr_public_hash.txt").read_text()

    def serve(self, archive, options):
        return self.replay_server(str(archive), "127.0.0.1", 0, 0, options)


def get(address, url, socks=None):
    """The answer from a server, or by the SOCKS5 proxy `socks`."""
    host, path = url.split("://")[1].split("/", 1)
    sock = socket.create_connection(socks or address, wire.DEADLINE_SECONDS)
    if socks:
        sock.sendall(b"\5\1\0\5\1\0\3\x09site.test" + (80).to_bytes(2, "big"))
        reply = b""
        while len(reply) < 12:
            reply += sock.recv(12 - len(reply))
        assert reply[:4] == b"\5\0\5\0", reply
    with wire.Client(sock) as client:
        return client.get("/" + path, host=host)


def record(catapult, archive, url):
    with catapult.serve(archive, ["--record"]) as server:
        assert get(("127.0.0.1", server.http_port), url).status == 200
    assert list(wpr_case.read_wprgo(archive)) == [url]


def replay(catapult, archive, url, options):
    began = time.monotonic()
    server = catapult.serve(archive, options)
    server.StartServer()
    figure.report("catapult_replay_started", round(time.monotonic() - began, 2), "s", None)
    body = get(("127.0.0.1", server.http_port), url).body
    assert url.rsplit("/", 1)[1].encode() in body, body
    assert (b"<script>" in body) == ("--inject_scripts=" not in options), body
    assert get(("127.0.0.1", server.http_port), url + "-not-recorded").status == 404
    listener = types.SimpleNamespace(host="127.0.0.1", ports={"https": server.https_port})
    signed = wpr_case.chain_hashes(listener, "site.test", "RSA-PSS+SHA256")
    assert signed and all(each in catapult.hash for each in signed), signed
    behind_tsproxy(catapult, server, url)
    began = time.monotonic()
    server.StopServer()
    figure.report("catapult_replay_stopped", round(time.monotonic() - began, 2), "s", None)


def behind_tsproxy(catapult, server, url):
    with catapult.ts_proxy_server("127.0.0.1", server.http_port, server.https_port) as proxy:
        proxy.UpdateTrafficSettings(RTT_MS, 5000, 1000)
        began = time.monotonic()
        assert get(None, url, ("127.0.0.1", proxy.port)).status == 200
        took_ms = 1000 * (time.monotonic() - began)
        figure.report("catapult_tsproxy_page", round(took_ms), "ms", f">= {2 * RTT_MS}")
        proxy.UpdateOutboundPorts(server.http_port, server.https_port)


def main(root, folder):
    catapult = Catapult(root, folder)
    origin = wire.Origin(answer)
    archive = folder / "page.wprgo"
    for path in ("first", "second"):
        url = f"http://localhost:{origin.port}/{path}"
        record(catapult, archive, url)
    for options in ([], ["--inject_scripts="], ["--disable-fuzzy-url-matching"]):
        replay(catapult, archive, url, options)
    figure.report("catapult_sequences", 1, "", "== 1")


if __name__ == "__main__":
    if not os.environ.get("CATAPULT"):
        figure.report("catapult_not_there", 1, "", None)
        sys.exit(0)
    with tempfile.TemporaryDirectory() as made:
        main(pathlib.Path(os.environ["CATAPULT"]).absolute(), pathlib.Path(made))
