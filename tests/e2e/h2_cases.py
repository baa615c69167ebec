"""What a server of HTTP/2 must take and must refuse, case by case, in the order of the RFCs: first
what it must take ("generic"), then RFC 9113 and RFC 7541. Each is a row: its name, what a client
sends, and what is due. The bytes are sent in steps; a step that is no bytes is called."""

from h2_case import (MAX_STREAMS, Case, answered, await_frame, frame_comes, left, over_the_limit,
                     refused, reset, taken, until_end)
from h2_wire import (ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, MAGIC,
                     PADDED, PING, PRIORITY, PUSH_PROMISE, RST_STREAM, SETTINGS, WINDOW_UPDATE,
                     WITH_PRIORITY, block, frame, head, request, settings, u32)

PROTOCOL, FLOW_CONTROL, STREAM_CLOSED, FRAME_SIZE, REFUSED, COMPRESSION = 1, 3, 5, 6, 7, 9
ENABLE_PUSH, INITIAL_WINDOW, MAX_FRAME = 2, 4, 5
OPEN_POST = head(1, request(method="POST"), 0)
BEGUN = frame(HEADERS, END_STREAM, 1, block(*request()))
END_OF_HEAD = frame(CONTINUATION, END_HEADERS, 1)
RESET = frame(RST_STREAM, stream=1, payload=u32(8))


def padded(payload, by=5):
    return bytes([by]) + payload + bytes(by)


def hpack(text):
    """A whole request: its method, scheme and path by index, then these bytes."""
    return frame(HEADERS, END_STREAM | END_HEADERS, 1,
                 b"\x82\x87\x84" + bytes.fromhex(text.replace(" ", "")))


def with_fields(*more):
    return head(1, request() + more)


def instead(name, *values):
    """A request whose field of this name has these values, or is missing."""
    fields = ()
    for each in request():
        fields += tuple((name, value) for value in values) if each[0] == name else (each,)
    return head(1, fields)


AUTHORITY = "41 0b 6f 72 69 67 69 6e 2e 74 65 73 74"  # ":authority: origin.test"
HUFFMAN_VALUE = "86 a8 eb 10 64 9c bf"  # "no-cache", and cache-control is 24
PLAIN_VALUE = "08 6e 6f 2d 63 61 63 68 65"
PLAIN_NEW = "0a 63 75 73 74 6f 6d 2d 6b 65 79 0c 63 75 73 74 6f 6d 2d 76 61 6c 75 65"
HUFFMAN_NEW = "88 25 a8 49 e9 5b a9 7d 7f 89 25 a8 49 e9 5b b8 e8 b4 bf"

GENERIC = [
    Case("generic/1 preface", b"", taken),
    Case("generic/2.1 priority of an idle stream",
         frame(PRIORITY, stream=1, payload=u32(0) + b"\x10") + head(1), answered()),
    Case("generic/2.2 window update on a half-closed stream",
         head(1) + frame(WINDOW_UPDATE, stream=1, payload=u32(100)), answered()),
    Case("generic/2.3 priority on a half-closed stream",
         head(1) + frame(PRIORITY, stream=1, payload=u32(0) + b"\x10"), answered()),
    Case("generic/2.4 reset of a half-closed stream", head(1) + RESET, taken),
    Case("generic/2.5 priority on a closed stream",
         (head(1), until_end(), frame(PRIORITY, stream=1, payload=u32(0) + b"\x10")), taken),
    Case("generic/3.1.1 data", OPEN_POST + frame(DATA, END_STREAM, 1, b"test"), answered()),
    Case("generic/3.1.2 data in several frames",
         OPEN_POST + frame(DATA, 0, 1, b"te") + frame(DATA, END_STREAM, 1, b"st"), answered()),
    Case("generic/3.1.3 padded data",
         OPEN_POST + frame(DATA, PADDED | END_STREAM, 1, padded(b"test")), answered()),
    Case("generic/3.2.1 head", head(1), answered()),
    Case("generic/3.2.2 padded head",
         frame(HEADERS, END_STREAM | END_HEADERS | PADDED, 1, padded(block(*request()))),
         answered()),
    Case("generic/3.2.3 head with a priority",
         frame(HEADERS, END_STREAM | END_HEADERS | WITH_PRIORITY, 1,
               u32(0) + b"\xff" + block(*request())), answered()),
    *(Case(f"generic/3.3.{number} priority: {what}",
           frame(PRIORITY, stream=stream, payload=u32(parent) + weight) + head(1), answered())
      for number, what, stream, parent, weight in (
          (1, "lowest weight", 1, 0, b"\0"), (2, "highest weight", 1, 0, b"\xff"),
          (3, "of a dependency", 1, 3, b"\x10"), (4, "exclusive", 1, 0x80000003, b"\x10"),
          (5, "of a later idle stream", 5, 0, b"\x10"))),
    Case("generic/3.4 reset", OPEN_POST + RESET, taken),
    Case("generic/3.5 settings", settings((MAX_STREAMS, 100)), frame_comes(SETTINGS, ACK)),
    Case("generic/3.7 ping", frame(PING, payload=b"12345678"),
         frame_comes(PING, ACK, payload=b"12345678")),
    Case("generic/3.8 goaway", frame(GOAWAY, payload=u32(0) + u32(0)),
         left),
    Case("generic/3.9.1 window update of the connection",
         frame(WINDOW_UPDATE, payload=u32(1)) + head(1), answered()),
    Case("generic/3.9.2 window update of a stream",
         head(1) + frame(WINDOW_UPDATE, stream=1, payload=u32(1)), answered()),
    Case("generic/3.10.1 continuation",
         frame(HEADERS, END_STREAM, 1, block(*request()[:2])) +
         frame(CONTINUATION, END_HEADERS, 1, block(*request()[2:])), answered()),
    Case("generic/3.10.2 several continuations",
         frame(HEADERS, END_STREAM, 1, block(*request()[:2])) +
         frame(CONTINUATION, 0, 1, block(*request()[2:])) +
         frame(CONTINUATION, END_HEADERS, 1, block(("x-dummy", "1"))), answered()),
    Case("generic/4.1 GET", head(1), answered()),
    Case("generic/4.2 HEAD", head(1, request(method="HEAD")), answered()),
    Case("generic/4.3 POST", OPEN_POST + frame(DATA, END_STREAM, 1, b"test"), answered()),
    Case("generic/4.4 POST with trailers",
         OPEN_POST + frame(DATA, 0, 1, b"test") + head(1, (("x-test", "ok"),)), answered()),
    Case("generic/5.1 indexed field", hpack(AUTHORITY + "90"), answered()),
    *(Case(f"generic/5.{number} literal {how}, {what}", hpack(AUTHORITY + text), answered())
      for number, (how, what, text) in enumerate((
          ("indexed", "known name", "58" + PLAIN_VALUE),
          ("indexed", "known name, Huffman", "58" + HUFFMAN_VALUE),
          ("indexed", "new name", "40" + PLAIN_NEW),
          ("indexed", "new name, Huffman", "40" + HUFFMAN_NEW),
          ("not indexed", "known name", "0f 09" + PLAIN_VALUE),
          ("not indexed", "known name, Huffman", "0f 09" + HUFFMAN_VALUE),
          ("not indexed", "new name", "00" + PLAIN_NEW),
          ("not indexed", "new name, Huffman", "00" + HUFFMAN_NEW),
          ("never indexed", "known name", "1f 09" + PLAIN_VALUE),
          ("never indexed", "known name, Huffman", "1f 09" + HUFFMAN_VALUE),
          ("never indexed", "new name", "10" + PLAIN_NEW),
          ("never indexed", "new name, Huffman", "10" + HUFFMAN_NEW)), 2)),
    *(Case(f"generic/5.{number} {what}",
           frame(HEADERS, END_STREAM | END_HEADERS, 1, updates + block(*request())), answered())
      for number, what, updates in ((14, "table resized", b"\x3f\xe1\x1f"),
                                    (15, "table resized twice", b"\x20\x3f\xe1\x1f"))),
]

STREAMS = [
    Case("3.4.1 preface", MAGIC + settings(), frame_comes(SETTINGS), preface=False),
    Case("3.4.2 invalid preface", b"INVALID CONNECTION PREFACE\r\n\r\n",
         refused(PROTOCOL), preface=False),
    Case("4.1.1 frame of an unknown type", frame(0x16, stream=0, payload=bytes(8)), taken),
    Case("4.1.2 undefined flags", frame(PING, 0x16, payload=bytes(8)), frame_comes(PING, ACK)),
    Case("4.1.3 reserved bit", frame(PING, 0, 0x80000000, bytes(8)), frame_comes(PING, ACK)),
    Case("4.2.1 DATA of the largest size",
         OPEN_POST + frame(DATA, END_STREAM, 1, bytes(1 << 14)), answered()),
    Case("4.2.2 DATA over it", OPEN_POST + frame(DATA, END_STREAM, 1, bytes((1 << 14) + 1)),
         reset(FRAME_SIZE)),
    Case("4.2.3 HEADERS over it",
         frame(HEADERS, END_STREAM | END_HEADERS, 1, bytes((1 << 14) + 1)), refused(FRAME_SIZE)),
    Case("4.3.1 undecodable block",
         frame(HEADERS, END_STREAM | END_HEADERS, 1, b"\x82\x87\x84\x01\x0a"),
         refused(COMPRESSION)),
    Case("4.3.2 PRIORITY inside a head",
         BEGUN + frame(PRIORITY, stream=1, payload=u32(0) + b"\xff") + END_OF_HEAD,
         refused(PROTOCOL)),
    Case("4.3.3 HEADERS of another stream inside a head", BEGUN + head(3) + END_OF_HEAD,
         refused(PROTOCOL)),
    Case("5.1.1 idle: DATA", frame(DATA, END_STREAM, 1, b"test"), refused(PROTOCOL)),
    Case("5.1.2 idle: RST_STREAM", RESET, refused(PROTOCOL)),
    Case("5.1.3 idle: WINDOW_UPDATE", frame(WINDOW_UPDATE, stream=1, payload=u32(100)),
         refused(PROTOCOL)),
    Case("5.1.4 idle: CONTINUATION", frame(CONTINUATION, END_HEADERS, 1, block(*request())),
         refused(PROTOCOL)),
    Case("5.1.5 half-closed: DATA", head(1) + frame(DATA, END_STREAM, 1, b"test"),
         reset(STREAM_CLOSED)),
    Case("5.1.6 half-closed: HEADERS", head(1) + head(1), reset(STREAM_CLOSED)),
    Case("5.1.7 half-closed: CONTINUATION", head(1) + END_OF_HEAD,
         reset(STREAM_CLOSED, PROTOCOL)),
    Case("5.1.8 closed by RST_STREAM: DATA", OPEN_POST + RESET + frame(DATA, END_STREAM, 1, b"t"),
         reset(STREAM_CLOSED)),
    Case("5.1.9 closed by RST_STREAM: HEADERS", OPEN_POST + RESET + head(1), reset(STREAM_CLOSED)),
    Case("5.1.10 closed by RST_STREAM: CONTINUATION", OPEN_POST + RESET + END_OF_HEAD,
         reset(STREAM_CLOSED, PROTOCOL)),
    Case("5.1.11 closed: DATA", (head(1), until_end(), frame(DATA, END_STREAM, 1, b"test")),
         reset(STREAM_CLOSED)),
    Case("5.1.12 closed: HEADERS", (head(1), until_end(), head(1)), refused(STREAM_CLOSED)),
    Case("5.1.13 closed: CONTINUATION", (head(1), until_end(), END_OF_HEAD),
         refused(STREAM_CLOSED, PROTOCOL)),
    Case("5.1.1.1 stream of an even number", head(2), refused(PROTOCOL)),
    Case("5.1.1.2 stream of a smaller number", head(5) + head(3), refused(PROTOCOL)),
    Case("5.1.2.1 streams over the limit", over_the_limit, reset(PROTOCOL, REFUSED)),
    Case("5.3.1.1 head that depends on itself",
         frame(HEADERS, END_STREAM | END_HEADERS | WITH_PRIORITY, 1,
               u32(1) + b"\xff" + block(*request())), reset(PROTOCOL)),
    Case("5.3.1.2 priority that depends on itself",
         frame(PRIORITY, stream=1, payload=u32(1) + b"\xff"), reset(PROTOCOL)),
    Case("5.4.1.1 connection error closes", frame(PING, payload=bytes(6)), refused(FRAME_SIZE)),
    Case("5.4.1.2 connection error is told by GOAWAY", frame(PING, payload=bytes(6)),
         refused(FRAME_SIZE, by=("connection",))),
    Case("5.5.1 unknown extension frame", frame(0x16, 0, 0, bytes(8)), taken),
    Case("5.5.2 unknown extension frame inside a head", BEGUN + frame(0x16, 0, 0) + END_OF_HEAD,
         refused(PROTOCOL)),
]

FRAMES = [
    Case("6.1.1 DATA on the connection", OPEN_POST + frame(DATA, END_STREAM, 0, b"test"),
         refused(PROTOCOL)),
    Case("6.1.2 DATA on a stream that is not open", head(1) + frame(DATA, END_STREAM, 1, b"test"),
         reset(STREAM_CLOSED)),
    Case("6.1.3 padding longer than DATA",
         OPEN_POST + frame(DATA, END_STREAM | PADDED, 1, b"\x06Test"), refused(PROTOCOL)),
    Case("6.2.1 PRIORITY behind HEADERS without END_HEADERS",
         BEGUN + frame(PRIORITY, stream=1, payload=u32(0) + b"\xff") + END_OF_HEAD,
         refused(PROTOCOL)),
    Case("6.2.2 another HEADERS behind it", BEGUN + head(3) + END_OF_HEAD, refused(PROTOCOL)),
    Case("6.2.3 HEADERS on the connection", head(0), refused(PROTOCOL)),
    Case("6.2.4 padding longer than HEADERS",
         frame(HEADERS, END_STREAM | END_HEADERS | PADDED, 1, b"\xff" + block(*request())),
         refused(PROTOCOL)),
    Case("6.3.1 PRIORITY on the connection", frame(PRIORITY, payload=u32(0) + b"\xff"),
         refused(PROTOCOL)),
    Case("6.3.2 PRIORITY of 4 bytes", head(1) + frame(PRIORITY, stream=1, payload=u32(0)),
         reset(FRAME_SIZE)),
    Case("6.4.1 RST_STREAM on the connection", frame(RST_STREAM, payload=u32(8)),
         refused(PROTOCOL)),
    Case("6.4.2 RST_STREAM of an idle stream", RESET, refused(PROTOCOL)),
    Case("6.4.3 RST_STREAM of 3 bytes", OPEN_POST + frame(RST_STREAM, stream=1, payload=bytes(3)),
         refused(FRAME_SIZE)),
    Case("6.5.1 answer to SETTINGS with content",
         frame(SETTINGS, ACK, payload=bytes(6)), refused(FRAME_SIZE)),
    Case("6.5.2 SETTINGS on a stream", frame(SETTINGS, stream=1, payload=bytes(6)),
         refused(PROTOCOL)),
    Case("6.5.3 SETTINGS of 3 bytes", frame(SETTINGS, payload=bytes(3)), refused(FRAME_SIZE)),
    Case("6.5.2.1 ENABLE_PUSH of 2", settings((ENABLE_PUSH, 2)), refused(PROTOCOL)),
    Case("6.5.2.2 INITIAL_WINDOW_SIZE over the largest", settings((INITIAL_WINDOW, 1 << 31)),
         refused(FLOW_CONTROL)),
    Case("6.5.2.3 MAX_FRAME_SIZE below the smallest", settings((MAX_FRAME, (1 << 14) - 1)),
         refused(PROTOCOL)),
    Case("6.5.2.4 MAX_FRAME_SIZE over the largest", settings((MAX_FRAME, 1 << 24)),
         refused(PROTOCOL)),
    Case("6.5.2.5 unknown setting", settings((0xff, 1)), taken),
    Case("6.5.3.1 one setting twice",
         settings((INITIAL_WINDOW, 100), (INITIAL_WINDOW, 1)) + head(1), frame_comes(DATA, size=1)),
    Case("6.5.3.2 answer to SETTINGS", settings(), frame_comes(SETTINGS, ACK)),
    Case("6.7.1 PING", frame(PING, payload=b"12345678"), frame_comes(PING, ACK, b"12345678")),
    Case("6.7.2 answer to no PING",
         frame(PING, ACK, payload=b"unwanted") + frame(PING, payload=b"12345678"),
         frame_comes(PING, ACK, b"12345678")),
    Case("6.7.3 PING on a stream", frame(PING, stream=1, payload=bytes(8)), refused(PROTOCOL)),
    Case("6.7.4 PING of 6 bytes", frame(PING, payload=bytes(6)), refused(FRAME_SIZE)),
    Case("6.8.1 GOAWAY on a stream", frame(GOAWAY, stream=1, payload=bytes(8)),
         refused(PROTOCOL)),
    Case("6.9.1 WINDOW_UPDATE of 0", frame(WINDOW_UPDATE, payload=u32(0)), refused(PROTOCOL)),
    Case("6.9.2 WINDOW_UPDATE of 0 on a stream",
         OPEN_POST + frame(WINDOW_UPDATE, stream=1, payload=u32(0)), reset(PROTOCOL)),
    Case("6.9.3 WINDOW_UPDATE of 3 bytes", frame(WINDOW_UPDATE, payload=bytes(3)),
         refused(FRAME_SIZE)),
    Case("6.9.1.1 window of 1", settings((INITIAL_WINDOW, 1)) + head(1), frame_comes(DATA, size=1)),
    Case("6.9.1.2 window over the largest",
         2 * frame(WINDOW_UPDATE, payload=u32((1 << 31) - 1)), refused(FLOW_CONTROL)),
    Case("6.9.1.3 window of a stream over the largest",
         OPEN_POST + 2 * frame(WINDOW_UPDATE, stream=1, payload=u32((1 << 31) - 1)),
         reset(FLOW_CONTROL)),
    Case("6.9.2.1 initial window that changes",
         (settings((INITIAL_WINDOW, 0)) + head(1),
          lambda client: await_frame(client, lambda seen: seen.kind == HEADERS),
          settings((INITIAL_WINDOW, 1))), frame_comes(DATA, size=1)),
    Case("6.9.2.2 window below 0",
         (settings((INITIAL_WINDOW, 3)) + head(1),
          lambda client: await_frame(client, lambda seen: seen.kind == DATA),
          settings((INITIAL_WINDOW, 2)) + frame(WINDOW_UPDATE, stream=1, payload=u32(2))),
         frame_comes(DATA, size=1)),
    Case("6.9.2.3 initial window over the largest", settings((INITIAL_WINDOW, 1 << 31)),
         refused(FLOW_CONTROL)),
    Case("6.10.1 continuations",
         frame(HEADERS, END_STREAM, 1, block(*request()[:1])) +
         frame(CONTINUATION, 0, 1, block(*request()[1:2])) +
         frame(CONTINUATION, END_HEADERS, 1, block(*request()[2:])), answered()),
    Case("6.10.2 DATA inside a head", BEGUN + frame(DATA, END_STREAM, 1, b"test") + END_OF_HEAD,
         refused(PROTOCOL)),
    Case("6.10.3 CONTINUATION on the connection", BEGUN + frame(CONTINUATION, END_HEADERS, 0),
         refused(PROTOCOL)),
    Case("6.10.4 CONTINUATION behind a whole head", OPEN_POST + END_OF_HEAD, refused(PROTOCOL)),
    Case("6.10.5 CONTINUATION behind the last", BEGUN + END_OF_HEAD + END_OF_HEAD,
         refused(PROTOCOL)),
    Case("6.10.6 CONTINUATION behind DATA",
         OPEN_POST + frame(DATA, 0, 1, b"test") + END_OF_HEAD, refused(PROTOCOL)),
    Case("7.1 GOAWAY of an unknown error", frame(GOAWAY, payload=u32(0) + u32(0xff)), left),
    Case("7.2 RST_STREAM of an unknown error",
         OPEN_POST + frame(RST_STREAM, stream=1, payload=u32(0xff)), taken),
]

MESSAGES = [
    Case("8.1.1 second HEADERS without an end", OPEN_POST + head(1, (("x-test", "ok"),), 0),
         reset(PROTOCOL)),
    Case("8.1.2.1 name in upper case", with_fields(("X-TEST", "ok")), reset(PROTOCOL)),
    Case("8.1.2.1.1 unknown pseudo field", with_fields((":test", "ok")), reset(PROTOCOL)),
    Case("8.1.2.1.2 pseudo field of responses", with_fields((":status", "200")), reset(PROTOCOL)),
    Case("8.1.2.1.3 pseudo field as a trailer",
         OPEN_POST + frame(DATA, 0, 1, b"test") + head(1, ((":method", "200"),)), reset(PROTOCOL)),
    Case("8.1.2.1.4 pseudo field behind others",
         head(1, request()[:3] + (("x-test", "ok"),) + request()[3:]), reset(PROTOCOL)),
    Case("8.1.2.2.1 connection field", with_fields(("connection", "keep-alive")), reset(PROTOCOL)),
    Case("8.1.2.2.2 TE other than trailers", with_fields(("te", "trailers, deflate")),
         reset(PROTOCOL)),
    Case("8.1.2.3.1 empty path", instead(":path", ""), reset(PROTOCOL)),
    Case("8.1.2.3.2 no method", instead(":method"), reset(PROTOCOL)),
    Case("8.1.2.3.3 no scheme", instead(":scheme"), reset(PROTOCOL)),
    Case("8.1.2.3.4 no path", instead(":path"), reset(PROTOCOL)),
    Case("8.1.2.3.5 two methods", instead(":method", "GET", "GET"), reset(PROTOCOL)),
    Case("8.1.2.3.6 two schemes", instead(":scheme", "https", "https"), reset(PROTOCOL)),
    Case("8.1.2.3.7 two paths", instead(":path", "/", "/"), reset(PROTOCOL)),
    Case("8.1.2.6.1 content of another length",
         head(1, request(method="POST") + (("content-length", "1"),), 0) +
         frame(DATA, END_STREAM, 1, b"test"), reset(PROTOCOL)),
    Case("8.1.2.6.2 content of another length, in several frames",
         head(1, request(method="POST") + (("content-length", "1"),), 0) +
         frame(DATA, 0, 1, b"test") + frame(DATA, END_STREAM, 1, b"test"), reset(PROTOCOL)),
    Case("8.2.1 PUSH_PROMISE",
         OPEN_POST + frame(PUSH_PROMISE, END_HEADERS, 1, u32(2) + block(*request())),
         refused(PROTOCOL)),
]

COMPRESSION_CASES = [
    Case("hpack/2.3.3.1 index behind the tables", hpack("c6"), refused(COMPRESSION)),
    Case("hpack/2.3.3.2 literal whose name is behind the tables", hpack("7f 07 01 31"),
         refused(COMPRESSION)),
    Case("hpack/4.2.1 table resized behind fields", hpack(AUTHORITY + "20"), refused(COMPRESSION)),
    Case("hpack/5.2.1 Huffman padding over 7 bits", hpack("00 81 ff 83 9d 29 ff"),
         refused(COMPRESSION)),
    Case("hpack/5.2.2 Huffman padding of zeros", hpack("00 84 f2 b2 4a 84 82 74 00"),
         refused(COMPRESSION)),
    Case("hpack/5.2.3 Huffman end of string", hpack("00 85 f2 b2 4a 84 ff 83 49 50 90"),
         refused(COMPRESSION)),
    Case("hpack/6.1.1 index 0", hpack("80"), refused(COMPRESSION)),
    Case("hpack/6.3.1 table over its limit",
         frame(HEADERS, END_STREAM | END_HEADERS, 1, b"\x3f\xe2\xff\x03" + block(*request())),
         refused(COMPRESSION)),
]

CASES = GENERIC + STREAMS + FRAMES + MESSAGES + COMPRESSION_CASES
