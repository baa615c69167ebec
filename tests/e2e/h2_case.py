"""One case of h2_cases.py: what a client of HTTP/2 sends, and what is due to it."""

import struct

from h2_wire import (ACK, GOAWAY, MAGIC, PING, RST_STREAM, SETTINGS, frame, head, request,
                     settings)

MAX_STREAMS = 3


class Case:
    def __init__(self, name, steps, due, preface=True):
        self.name = name
        self.steps = steps if isinstance(steps, tuple) else (steps,)
        self.due = due
        self.preface = preface

    def run(self, client):
        """None if the server did what is due, otherwise what it did instead."""
        if self.preface:
            client.send(MAGIC + settings())
            first = await_frame(client, lambda seen: seen.kind == SETTINGS)
            client.settings = dict(struct.iter_unpack(">HI", first.payload))
            client.send(frame(SETTINGS, ACK))
            await_frame(client, lambda seen: seen.kind == SETTINGS and seen.flags & ACK)
        for step in self.steps:
            if callable(step):
                step(client)
            else:
                client.send(step)
        return self.due(client)


def await_frame(client, wanted):
    """The next frame that is wanted. The server's error before it is an error."""
    while True:
        seen = client.next()
        if seen is None or seen.kind == GOAWAY:
            raise AssertionError("closed" if seen is None else f"connection {seen.code()}")
        if seen.kind == RST_STREAM and seen.code() != 0:
            raise AssertionError(f"stream {seen.code()}")
        if wanted(seen):
            return seen


def until_end(stream=1):
    """A step: the server has answered the whole of it, so that the stream is closed."""
    return lambda client: await_frame(client, lambda seen: seen.ends(stream))


def over_the_limit(client):
    """A step: opens as many streams as the server allows, and one more."""
    client.send(b"".join(head(2 * i + 1, request(method="POST"), 0)
                         for i in range(client.settings[MAX_STREAMS] + 1)))


def verdict(client):
    """How the server takes what was sent: by the first error that it tells, or by "nothing". What
    it has to say about something comes before its answer to the second PING behind it."""
    for payload in (b"settled1", b"settled2"):
        client.send(frame(PING, payload=payload))
        while True:
            seen = client.next()
            if seen is None:
                return "closed", 0
            if seen.kind == GOAWAY:
                return "connection", seen.code()
            if seen.kind == RST_STREAM and seen.code() != 0:
                return "stream", seen.code()
            if seen.kind == PING and seen.payload == payload:
                break
    return "nothing", 0


def refused(*codes, by=("closed", "connection")):
    def check(client):
        how, code = verdict(client)
        fits = how in by and (how == "closed" or code in codes)
        return None if fits else f"{how} {code}"
    return check


def reset(*codes):
    """An error of the connection is as good as one of the stream (section 5.4)."""
    return refused(*codes, by=("closed", "connection", "stream"))


def answered(stream=1):
    def check(client):
        try:
            await_frame(client, lambda seen: seen.ends(stream))
        except AssertionError as error:
            return str(error)
        return None
    return check


def taken(client):
    """Nothing is wrong with it, and the connection goes on."""
    how, code = verdict(client)
    if how != "nothing":
        return f"{how} {code}"
    client.send(head(99))
    return answered(99)(client)


def left(client):
    """The connection may end now, in order, or go on."""
    how, code = verdict(client)
    return None if code == 0 else f"{how} {code}"


def frame_comes(kind, flags=0, payload=None, size=None):
    def check(client):
        try:
            seen = await_frame(
                client, lambda seen: seen.kind == kind and seen.flags & flags == flags)
        except AssertionError as error:
            return str(error)
        if payload is not None and seen.payload != payload:
            return f"payload {seen.payload!r}"
        if size is not None and len(seen.payload) != size:
            return f"{len(seen.payload)} bytes"
        return None
    return check
