#!/usr/bin/env python3
"""The same bytes from `wpr` and from Web Page Replay: both replay each recording, and both are
asked for each of its requests, with the recorded fields, over HTTP/1.1, one connection each.

WPR names a folder with Web Page Replay's binary `wpr` and its roots, wpr_*.pem and ecdsa_*.pem;
without it nothing is compared. Recordings as arguments, in any format; without any, those of the
folder REPRISE_CORPUS. A table of the differences for people goes to stdout, then the figures."""

import collections
import email.utils
import os
import pathlib
import re
import sys
import tempfile

import figure
import harness
import wpr_case

# Ours removes it on purpose: it would lead the client past the proxy.
REMOVED = {b"alt-svc"}
SUFFIXES = (".wprgo", ".har", ".warc", ".warc.gz", ".wacz", ".flow", ".flows", ".mitm")
FRAMING = {b"connection", b"keep-alive", b"transfer-encoding", b"content-length"}
DATE = re.compile(rb"\w{3}, \d\d[ -]\w{3}[ -]\d{4} \d\d:\d\d:\d\d GMT")
TIMEOUT_SECONDS = 600
SHOWN = 30


class Peer(wpr_case.Wpr):
    """Either of them, with the same words."""

    @classmethod
    def replaying(cls, binary, roots, folder, archive, *words):
        folder.mkdir()
        (folder / "wpr").symlink_to(binary)
        return cls.started(folder, "replay", "--http_port=0", "--https_port=0",
                           "--host=127.0.0.1",
                           f"--https_cert_file={roots}/wpr_cert.pem,{roots}/ecdsa_cert.pem",
                           f"--https_key_file={roots}/wpr_key.pem,{roots}/ecdsa_key.pem",
                           "--serve_response_in_chronological_sequence", *words, str(archive))


def as_wprgo(folder, recording):
    """The recording, or its form as a .wprgo; None if it cannot be one."""
    if recording.name.endswith(".wprgo"):
        return recording
    name = re.sub(r"\W", "-", str(recording))
    ours, theirs = folder / f"{name}.reprise", folder / f"{name}.wprgo"
    for words in (("import", str(recording), "-o", str(ours)),
                  ("export", str(ours), "--to", "wprgo", "-o", str(theirs))):
        if harness.run("archive", *words, folder=folder, timeout=TIMEOUT_SECONDS).returncode:
            return None
    return theirs


def requests_of(wprgo):
    """(URL, method, fields, body) of each, in the order of the file."""
    for url, entries in wpr_case.read_wprgo(wprgo).items():
        for request, _ in entries:
            head, _, body = request.partition(b"\r\n\r\n")
            line, *fields = head.split(b"\r\n")
            yield url, line.split(b" ")[0].decode(), fields, body


def ask(peer, url, method, fields, body):
    """What came: status, end-to-end fields, body. Or one word on why nothing did."""
    scheme, rest = url.split("://", 1)
    host, _, path = rest.partition("/")
    kept = [field for field in fields if field.split(b":")[0].lower() not in
            (b"host", b"connection", b"content-length", b"transfer-encoding", b"expect",
             b"te", b"trailer", b"upgrade")]
    if body:
        kept.append(b"Content-Length: %d" % len(body))
    head = b"\r\n".join([f"{method} /{path} HTTP/1.1".encode(), b"Host: " + host.encode(), *kept])
    name = host.split(":")[0]
    try:
        with peer.connect(scheme, None if name.replace(".", "").isdigit() else name) as client:
            client.send(head + b"\r\n\r\n" + body)
            answer = client.read_response(method)
    except (OSError, EOFError, ValueError) as error:
        return type(error).__name__
    return answer.status, relative(answer), answer.body


def relative(answer):
    """Its end-to-end fields. Both move dates to the present, theirs each response by its own Date,
    ours all by the same, and ours those of cookies too: so they are told by their distance to the
    Date beside them, and not at all in cookies."""
    def seconds(date):
        text = date.decode().replace("-", " ")
        return email.utils.parsedate_to_datetime(text).timestamp()

    now = [seconds(value) for name, value in answer.headers
           if name.lower() == b"date" and DATE.fullmatch(value)]

    def moved(name, value):
        if name == b"set-cookie" or not now:
            return DATE.sub(b"DATE", value)
        return DATE.sub(lambda date: b"%+d s" % (seconds(date[0]) - now[0]), value)

    return collections.Counter((name.lower(), moved(name.lower(), value))
                               for name, value in answer.headers
                               if name.lower() not in FRAMING | REMOVED)


def differences(theirs, ours):
    """What differs, a line each, theirs first."""
    if isinstance(theirs, str) or isinstance(ours, str):
        if theirs != ours:
            yield f"answer: {named(theirs)} / {named(ours)}"
        return
    if theirs[0] != ours[0]:
        yield f"status: {theirs[0]} / {ours[0]}"
        return
    fields = {field for field, _ in (theirs[1] - ours[1]) + (ours[1] - theirs[1])}
    for field in sorted(fields):
        in_theirs, in_ours = (sum(count for (name, _), count in each[1].items() if name == field)
                              for each in (theirs, ours))
        yield f"field {field.decode()}: {in_theirs} / {in_ours}"
    if theirs[2] != ours[2]:
        yield "body"


def named(answer):
    return answer if isinstance(answer, str) else f"status {answer[0]}"


def main(folder, recordings):
    roots = pathlib.Path(os.environ["WPR"]).absolute()
    counts, first, totals = collections.Counter(), {}, collections.Counter()
    for number, recording in enumerate(recordings):
        archive = as_wprgo(folder, recording)
        if archive is None:
            totals["not a .wprgo"] += 1
            continue
        asked = list(requests_of(archive))
        if not asked:
            continue
        script = "--inject_scripts="
        theirs = Peer.replaying(roots / "wpr", roots, folder / f"t{number}", archive, script)
        ours = Peer.replaying(os.path.abspath(harness.REPRISE), roots, folder / f"o{number}",
                              archive, script)
        try:
            totals["recordings"] += 1
            for url, *rest in asked:
                totals["requests"] += 1
                found = list(differences(ask(theirs, url, *rest), ask(ours, url, *rest)))
                totals["equal"] += not found
                for each in found:
                    counts[each] += 1
                    first.setdefault(each, f"{recording.name}: {url}"[:100])
        finally:
            theirs.kill()
            ours.kill()
        print(recording, dict(totals), file=sys.stderr, flush=True)
    figure.table(("difference (Web Page Replay's / ours)", "requests", "first"),
                 [(each, count, first[each]) for each, count in counts.most_common(SHOWN)])
    figure.report("wpr_compare_recordings", totals["recordings"], "", None)
    figure.report("wpr_compare_requests", totals["requests"], "", None)
    figure.report("wpr_compare_equal", totals["equal"] / max(1, totals["requests"]), "", None)


if __name__ == "__main__":
    if not os.environ.get("WPR"):
        figure.report("wpr_compare_not_there", 1, "", None)
        sys.exit(0)
    given = [pathlib.Path(each) for each in sys.argv[1:]]
    if not given and os.environ.get("REPRISE_CORPUS"):
        given = sorted(each for each in pathlib.Path(os.environ["REPRISE_CORPUS"]).rglob("*")
                       if each.name.endswith(SUFFIXES))
    with tempfile.TemporaryDirectory() as made:
        main(pathlib.Path(made), given)
