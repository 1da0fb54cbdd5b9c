"""Requests that two readers could understand differently, and addresses that try to be another one. What is counted is how
many requests the service saw: a message ends where its own length says, or the connection ends."""
from __future__ import annotations

import http.client
import json
import socket
import uuid

import pytest

SETTINGS = {"AGENT_SIMULATOR_WORKERS": "2", "CORS_ORIGINS": "https://editor.example"}
VALIDATE = "/besser_api/simulation/validate"
GOOD = b'{"title":"t","model":{}}'
HEADERS = ("X-Content-Type-Options", "X-Frame-Options", "Referrer-Policy", "Content-Security-Policy", "Permissions-Policy", "X-Request-ID")
END = b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


def answers(stack, data, port=None):
    """All answers to these bytes and one more request behind them, until the service closes."""
    found = []
    with socket.create_connection(("127.0.0.1", port or stack.port), 60) as client:
        client.settimeout(60)
        client.sendall(data + END)
        stream = client.makefile("rb")
        while _more(stream, found):
            # One buffered reader for all: HTTPResponse would make one of its own and swallow what follows.
            answer = http.client.HTTPResponse(_Kept(stream))
            answer.begin()
            answer.content = b"" if answer.status == 100 else answer.read()
            found.append(answer)
    return found


def _more(stream, found):
    try:
        return stream.peek(1)
    except ConnectionResetError:  # how a connection ends whose other side still had something to say
        assert found
        return b""


class _Kept:
    """What HTTPResponse takes for a socket."""

    def __init__(self, stream):
        self.stream = stream

    def makefile(self, _mode):
        return _NoClose(self.stream)


class _NoClose:
    def __init__(self, stream):
        self.read, self.readline, self.readinto, self.peek = stream.read, stream.readline, stream.readinto, stream.peek

    def close(self):
        pass

    def flush(self):
        pass


def statuses(stack, data, port=None):
    found = answers(stack, data, port)
    for one in found:
        assert all(one.headers[name] for name in HEADERS), one.headers
        if one.status >= 400:
            assert one.headers["Content-Type"] == "application/json" and "detail" in json.loads(one.content)
    return [one.status for one in found]


def post(*lines, body=GOOD, path=VALIDATE):
    return b"\r\n".join([f"POST {path} HTTP/1.1".encode(), b"Host: x", b"Content-Type: application/json", *lines]) + b"\r\n\r\n" + body


CL = b"Content-Length: %d" % len(GOOD)
INNER = b"GET /inner HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.parametrize("data", [
    post(CL, b"Transfer-Encoding: chunked", body=b"0\r\n\r\n" + INNER),
    post(b"Transfer-Encoding: chunked", CL, body=b"0\r\n\r\n" + INNER),
    post(CL, CL),
    post(CL, b"Content-Length: 0"),
    post(b"Content-Length: 0", CL, body=INNER),
    post(b"Content-Length: +24"), post(b"Content-Length: -1"), post(b"Content-Length: 0x18"), post(b"Content-Length: 24, 24"),
    post(b"Content-Length: 2 4"), post(b"Content-Length: 24;"), post(b"Content-Length: 99999999999999999999"),
    post(b"Content-Length:"), post(b"Content-Length : 24"), post(b"Content-Length\t: 24"),
    post(b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked", body=b"0\r\n\r\n"),
    post(b"Transfer-Encoding : chunked", body=b"0\r\n\r\n" + INNER),
    post(b" Transfer-Encoding: chunked", body=b"0\r\n\r\n"),
    post(b"X: y", b" Transfer-Encoding: chunked", body=b"0\r\n\r\n"),
    post(b"Transfer\x00-Encoding: chunked", body=b"0\r\n\r\n"),
    b"POST " + VALIDATE.encode() + b" HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
], ids=str)
def test_a_message_with_two_lengths_is_refused_and_the_connection_ends(stack, data):
    assert statuses(stack, data) == [400]


@pytest.mark.parametrize("coding", [b"identity", b"gzip, chunked", b"chunked, chunked", b"xchunked", b"chunked;q=1", b"\x0bchunked", b"chunked, identity"])
def test_other_codings_are_not_supported(stack, coding):
    (first, *rest) = statuses(stack, post(b"Transfer-Encoding: " + coding, body=b"0\r\n\r\n"))
    assert first in (400, 501) and not rest


def chunk(data, size=None, end=b"\r\n"):
    return (size or b"%x" % len(data)) + end + data + b"\r\n"


LAST = b"0\r\n\r\n"


@pytest.mark.parametrize("body", [
    chunk(GOOD) + LAST,
    chunk(GOOD[:5]) + chunk(GOOD[5:]) + LAST,
    chunk(GOOD, b"00000018") + LAST,
    chunk(GOOD, b"18;name=value") + LAST,
    chunk(GOOD) + b"0\r\nX-Trailer: 1\r\nContent-Length: 5\r\n\r\n",
    chunk(GOOD, end=b"\n") + LAST,
], ids=str)
def test_a_chunked_body_ends_where_it_says(stack, body):
    found = answers(stack, post(b"Transfer-Encoding: chunked", body=body))
    assert [one.status for one in found] == [200, 200]
    assert json.loads(found[0].content)["valid"] is False


@pytest.mark.parametrize("body", [
    chunk(GOOD, b"fffffffffffffffff") + LAST, chunk(GOOD, b"-18") + LAST, chunk(GOOD, b"0x18") + LAST, b"\r\n" + GOOD + b"\r\n" + LAST,
    chunk(GOOD, b"17") + LAST, chunk(GOOD, b"zz") + LAST, chunk(GOOD, b" 18") + LAST, b"\r\n" + chunk(GOOD) + LAST,
], ids=str)
def test_a_chunked_body_that_cannot_be_read_ends_the_connection(stack, body):
    assert statuses(stack, post(b"Transfer-Encoding: chunked", body=body)) == [400]


def test_what_follows_a_body_is_the_next_request(stack):
    assert statuses(stack, post(CL, body=GOOD + INNER)) == [200, 404, 200]
    assert statuses(stack, post(b"Content-Length: 10")) == [422, 400]
    assert statuses(stack, post(b"Content-Length: 0", body=INNER)) == [422, 404, 200]
    assert statuses(stack, b"GET /health HTTP/1.1\r\nHost: x\r\n" + CL + b"\r\n\r\n" + GOOD) == [200, 200]


def test_line_ends_without_carriage_return_mean_the_same(stack):
    assert statuses(stack, post(CL).replace(b"\r\n", b"\n")) == [200, 200]
    assert statuses(stack, b"GET /health HTTP/1.1\r\nHost: x\r\nX: a\rContent-Length: 5\r\n\r\n") == [400]


def test_a_body_that_does_not_come_reaches_no_worker(stack):
    with socket.create_connection(("127.0.0.1", stack.port), 60) as client:
        client.sendall(post(b"Content-Length: 1000"))
        client.shutdown(socket.SHUT_WR)
        client.settimeout(60)
        answer = client.recv(65536)
    assert not answer or answer.startswith(b"HTTP/1.1 400")


# ---- Expect ----

def test_who_asks_first_is_told_to_go_on(stack):
    with socket.create_connection(("127.0.0.1", stack.port), 60) as client:
        client.settimeout(60)
        client.sendall(post(CL, b"Expect: 100-continue", b"Connection: close", body=b""))
        assert client.recv(100).startswith(b"HTTP/1.1 100 ")
        client.sendall(GOOD)
        rest = b"".join(iter(lambda: client.recv(65536), b""))
    assert rest.startswith(b"HTTP/1.1 200 ") and b'"valid":false' in rest


def test_who_asks_for_too_much_is_told_no_at_once(stack):
    found = answers(stack, post(b"Content-Length: 60000000", b"Expect: 100-continue", b"Origin: https://editor.example", body=b""))
    assert [one.status for one in found] == [413]
    assert found[0].headers["Access-Control-Allow-Origin"] == "https://editor.example", "the keeper told nginx"


# ---- addresses ----

@pytest.mark.parametrize("path", [
    "/besser_api%2Fsimulation/limits", "/besser_api/simulation%2Flimits", "/besser_api/simulation%2flimits", "/besser_api/simulation\\limits",
    "/besser_api/./simulation/limits", "/besser_api/x/../simulation/limits", "/besser_api/%2e%2e/besser_api/simulation/limits",
    "/x/../besser_api/simulation/limits", "//besser_api/simulation/limits", "/besser_api//simulation/limits", "/besser_api/simulation/limits//",
    "/BESSER_API/simulation/limits", "/besser_api/Simulation/limits", "/besser_api/simulation/LIMITS", "/besser_api/simulation/limits;x=1",
    "/besser_api/simulation/limits%20", "/besser_api/simulation/limits.", "/besser_api/simulation/limits%3Fx", "/besser_api/simulation/limits/x",
    "/besser_api/simulation/%6cimits%2f", "/besser_api/simulation/limits%c0%af", "/besser_api/simulation/limits%ff", "/besser_api/simulation/limits%E2%80%8B",
])
def test_an_address_is_itself_or_unknown(stack, path):
    assert statuses(stack, f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode()) == [404, 200]


@pytest.mark.parametrize("path", ["/besser_api/simulation/limits%00", "/%00", "/besser_api/../../x", "/..", "/%2e%2e/x", "besser_api/", "*", "/a b", "/%zz"])
def test_an_address_that_is_none_is_refused(stack, path):
    assert statuses(stack, f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())[0] in (400, 404)


@pytest.mark.parametrize("path", ["/besser_api/simulation/%6cimits", "/besser_api/simulation/limits?", "/besser_api/simulation/limits?a=/../b",
                                  "http://elsewhere.example/besser_api/simulation/limits"])
def test_other_spellings_of_an_address_are_the_same(stack, path):
    assert statuses(stack, f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode()) == [200, 200]


@pytest.mark.parametrize("path", ["/sessions", "/metrics", "/healthz", "/readyz", "/besser_api/../sessions", "/besser_api/%2e%2e/metrics",
                                  "/besser_api/..%2fmetrics", "/.%2e/healthz", "//metrics", "/health/../metrics", "/_error", "/index.html/../metrics"])
def test_the_internal_surface_is_not_reached_from_outside(stack, path):
    token = stack.env["AGENT_SIMULATOR_API_TOKEN"]
    (first, *_) = statuses(stack, f"GET {path} HTTP/1.1\r\nHost: internal\r\nX-Agent-Simulator-Token: {token}\r\nX-Agentsim-Surface: internal\r\n\r\n".encode())
    assert first in (400, 404)


def test_a_slash_too_many_leads_to_the_address_without(stack):
    for method, path in (("GET", "/besser_api/simulation/limits/"), ("POST", VALIDATE + "/"), ("GET", f"/besser_api/simulation/sessions/{uuid.uuid4()}/files/")):
        reply = stack.request(method, path + "?a=b", headers={"Host": "evil.example"})
        assert (reply.status, reply.headers["Location"]) == (307, path[:-1] + "?a=b"), "relative: no host that a client named"


# ---- methods, versions, fields ----

@pytest.mark.parametrize("method, path, status", [
    ("PUT", "/besser_api/simulation/limits", 405), ("PATCH", VALIDATE, 405), ("PROPFIND", "/health", 405), ("FOO", "/besser_api/", 405),
    ("TRACE", "/health", 405), ("CONNECT", "elsewhere:80", 400), ("get", "/health", 400), ("G\x00T", "/health", 400),
    ("OPTIONS", "/besser_api/simulation/limits", 405), ("DELETE", "/besser_api/simulation/sessions", 405),
])
def test_methods_are_those_of_the_route(stack, method, path, status):
    found = answers(stack, f"{method} {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    assert found[0].status == status or (status == 400 and found[0].status == 405)
    if found[0].status == 405 and method != "TRACE":
        assert found[0].headers["Allow"]


@pytest.mark.parametrize("head, status", [
    (b"GET /health HTTP/1.1\r\n\r\n", 400), (b"GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400), (b"GET /health HTTP/1.1\r\nHost: a/b\r\n\r\n", 400),
    (b"GET /health HTTP/1.1\r\nHost: a\x00b\r\n\r\n", 400), (b"GET /health HTTP/2.0\r\nHost: x\r\n\r\n", 505), (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", None),
    (b"GET /health HTTP/1.1x\r\nHost: x\r\n\r\n", 400), (b"GET /health HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n", 400),
    (b"GET /health HTTP/1.1\r\nHost: x\r\nX: a\x00b\r\n\r\n", 400), (b"GET /health HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 9000 + b"\r\n\r\n", 431),
    (b"GET /health HTTP/1.1\r\nHost: x\r\n" + b"".join(b"X-%d: %s\r\n" % (i, b"y" * 100) for i in range(500)) + b"\r\n", 431),
    (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 414), (b"\r\n\r\n\x16\x03\x01\x02\x00\x01\x00", 400),
])
def test_heads_that_are_wrong_or_too_long_get_an_answer(stack, head, status):
    (first, *_) = statuses(stack, head)
    assert first == status or (status is None and first in (400, 405, 505))


def test_many_requests_at_once_get_as_many_answers(stack):
    data = b"".join(post(CL) + b"GET /besser_api/ HTTP/1.1\r\nHost: x\r\n\r\n" for _ in range(20))
    assert statuses(stack, data) == [200] * 41


def test_head_has_the_fields_and_no_body(stack):
    reply = stack.request("HEAD", "/besser_api/simulation/limits")
    assert (reply.status, reply.body) == (200, b"") and int(reply.headers["Content-Length"]) > 20


def test_a_field_with_underscores_is_not_the_one_with_hyphens(stack):
    """They are one name for a FastCGI program, so nginx has to drop the odd one."""
    token = stack.env["AGENT_SIMULATOR_API_TOKEN"]
    head = b"GET /health HTTP/1.1\r\nHost: x\r\n%s: " + token.encode() + b"\r\n\r\n"
    assert statuses(stack, head % b"X_Agent_Simulator_Token", stack.internal_port)[0] == 401
    assert statuses(stack, head % b"X-Agent-Simulator-Token", stack.internal_port)[0] == 200
