"""The configuration of our nginx: what it answers itself, what it passes on, and that a reload cuts nobody."""
from __future__ import annotations

import http.client
import json
import socket
import subprocess
import threading
import uuid

import pytest
from websockets.sync.client import connect

from tests.support.front import ROOT, Front, json_reply
from tests.support.stack import children_of, wait_until

MIB = 1024 * 1024
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "strict-origin-when-cross-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


def show_request(params, body):
    """A worker that tells what it got, and that says things which are nginx's to say."""
    if params["REQUEST_URI"].startswith("/besser_api/dies"):
        return None
    return json_reply(200, {"params": params, "length": len(body), "body": body[:100].decode("latin-1")}, [
        ("X-Frame-Options", "ALLOWALL"), ("X-Request-ID", "the worker's"), ("X-Accel-Redirect", "/index.html"),
    ])


def echo(ws):
    ws.send(json.dumps({"path": ws.request.path, "headers": dict(ws.request.headers.raw_items())}))
    for message in ws:
        ws.send(message)


@pytest.fixture(scope="module")
def front():
    with Front(show_request, echo) as running:
        yield running


def ask(port, method, path, body=None, headers=None):
    """(status, headers, parsed JSON or bytes)"""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, body, headers or {})
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    is_json = (answer.getheader("Content-Type") or "").startswith("application/json")
    return answer.status, answer.headers, json.loads(content) if is_json else content


def ask_raw(port, data):
    with socket.create_connection(("127.0.0.1", port), 60) as client:
        client.sendall(data)
        answer = http.client.HTTPResponse(client)
        answer.begin()
        return answer.status, answer.headers, json.loads(answer.read())


def assert_ours(headers):
    for name, value in HEADERS.items():
        assert headers.get_all(name) == [value]
    (request_id,) = headers.get_all("X-Request-ID")
    assert str(uuid.UUID(request_id)) == request_id and uuid.UUID(request_id).version == 4
    (policy,) = headers.get_all("Content-Security-Policy")
    assert "unsafe-eval" not in policy and "frame-ancestors 'none'" in policy
    assert headers.get("Strict-Transport-Security") is None


def test_the_installed_configuration_is_valid(tmp_path):
    for name in ("run", "state"):
        (tmp_path / name).mkdir()
    conf = tmp_path / "conf" / "agentsim.conf"
    conf.parent.mkdir()
    subprocess.run([ROOT / "nginx" / "render.sh", conf], check=True, env={
        "PATH": "/usr/bin:/bin", "CONF_DIR": str(conf.parent), "RUNTIME_DIR": str(tmp_path / "run"),
        "STATE_DIR": str(tmp_path / "state"), "TRUSTED_PROXIES": "192.0.2.10, 10.0.0.0/8,2001:db8::/32"})
    assert "@" not in "".join(line for line in conf.read_text().splitlines() if not line.lstrip().startswith("#"))
    check = subprocess.run(["/usr/sbin/nginx", "-t", "-c", conf], capture_output=True, text=True, check=False)
    assert check.returncode == 0, check.stderr
    assert "warn" not in check.stderr


def test_a_path_that_nginx_could_misread_is_refused(tmp_path):
    done = subprocess.run([ROOT / "nginx" / "render.sh", "-"], env={"PATH": "/usr/bin:/bin", "WWW_DIR": "/a b;"},
                          capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "WWW_DIR" in done.stderr and done.stdout == ""


@pytest.mark.parametrize("proxies", ["10.0.0.1;", "proxy.example", "10.0.0.0/8/8", "0.0.0.0/0", "::/0", "unix:", "a b", "10.0.0.1/"])
def test_a_proxy_that_is_no_address_is_refused(proxies):
    done = subprocess.run([ROOT / "nginx" / "render.sh", "-"], env={"PATH": "/usr/bin:/bin", "TRUSTED_PROXIES": proxies},
                          capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "TRUSTED_PROXIES" in done.stderr


@pytest.mark.parametrize("listen", ["banana", "8080", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:0", "127.0.0.1:65536", ":8080",
                                    "::1:8080", "[::1]", "127.0.0.1:8080:8081"])
def test_a_place_to_listen_that_is_no_address_and_port_is_refused(listen):
    for name in ("PUBLIC_LISTEN", "INTERNAL_LISTEN"):
        done = subprocess.run([ROOT / "nginx" / "render.sh", "-"], env={"PATH": "/usr/bin:/bin", name: listen},
                              capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == f"render.sh: {name} is '{listen}'; ADDRESS:PORT is needed, such as 127.0.0.1:8080 or [::1]:8080\n"


@pytest.mark.parametrize("listen", ["127.0.0.1:1", "0.0.0.0:65535", "[::]:8080", "localhost:8080"])
def test_addresses_and_ports_are_places_to_listen(listen):
    done = subprocess.run([ROOT / "nginx" / "render.sh", "-"], env={"PATH": "/usr/bin:/bin", "PUBLIC_LISTEN": listen},
                          capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "") and f"listen {listen} default_server" in done.stdout


def test_the_console_is_served_with_its_policy(front):
    status, headers, page = ask(front.port, "GET", "/")
    assert status == 200 and b"agentsim" in page
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert_ours(headers)
    policy = headers["Content-Security-Policy"]
    assert "script-src 'self';" in policy and "object-src 'none'" in policy
    status, headers, _ = ask(front.port, "GET", "/js/main.js")
    assert status == 200 and headers["Content-Type"].startswith("text/javascript")
    assert headers["Cache-Control"] == "no-cache"
    assert ask(front.port, "GET", "/examples/index.json")[0] == 200


@pytest.mark.parametrize("method, path, status", [
    ("GET", "/nothing", 404), ("GET", "/js", 404), ("GET", "/js/", 404), ("GET", "/../etc/passwd", 400),
    ("GET", "/besser_apix", 404), ("GET", "/_error", 404), ("POST", "/", 405), ("DELETE", "/index.html", 405),
    ("GET", "/" + "a" * 9000, 414), ("GET", "/besser_api/simulation/x/ws", 426), ("GET", "/besser_api/dies", 502),
    ("GET", "/sessions/x/ws", 404),
])
def test_errors_of_nginx_are_json(front, method, path, status):
    got, headers, body = ask(front.port, method, path)
    assert (got, headers["Content-Type"]) == (status, "application/json")
    assert list(body) == ["detail"] and body["detail"]
    assert_ours(headers)
    if status == 404:
        assert body == {"detail": "Not Found"}
    assert headers["Allow"] == ("GET, HEAD" if status == 405 else None)
    assert headers["Upgrade"] == ("websocket" if status == 426 else None)


def test_unreadable_requests_get_json_too(front):
    status, headers, body = ask_raw(front.port, b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n")
    assert status == 400 and body["detail"]
    assert_ours(headers)
    status, headers, body = ask_raw(front.port, b"G\x01T nonsense\r\n\r\n")
    assert status == 400 and body["detail"]
    status, headers, body = ask_raw(front.port, b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 9000 + b"\r\n\r\n")
    assert status == 431 and body["detail"]
    assert_ours(headers)


def test_a_body_of_50_mib_passes_and_one_byte_more_does_not(front):
    status, _, body = ask(front.port, "POST", "/besser_api/x", b"x" * (50 * MIB))
    assert (status, body["length"]) == (200, 50 * MIB)
    assert body["params"]["CONTENT_LENGTH"] == str(50 * MIB)
    status, headers, body = ask_raw(front.port, b"POST /besser_api/x HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % (50 * MIB + 1))
    assert status == 413 and "50 MiB" in body["detail"]
    assert_ours(headers)
    status, _, body = ask(front.internal_port, "POST", "/sessions", b"x" * 400000)
    assert (status, body["length"]) == (200, 400000)


def test_a_body_without_length_arrives_with_one(front):
    status, _, body = ask(front.port, "POST", "/besser_api/x", iter([b"abc", b"defg"]))
    assert (status, body["body"], body["params"]["CONTENT_LENGTH"]) == (200, "abcdefg", "7")


def test_no_more_than_sixteen_large_uploads_at_once(front):
    head = b"POST /besser_api/x HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n"
    open_uploads = []
    try:
        for _ in range(16):
            client = socket.create_connection(("127.0.0.1", front.port), 60)
            client.sendall(head + b"x")
            open_uploads.append(client)
        # Two nginx workers take them in any order: one of those above may be the one too many instead.
        wait_until(lambda: _upload_refused(front, head, open_uploads), 10, "the next large upload is refused")
        assert ask(front.port, "POST", "/besser_api/x", b"x" * 200000)[0] == 200
    finally:
        for client in open_uploads:
            client.close()
    wait_until(lambda: ask(front.port, "POST", "/besser_api/x", b"x" * 1000000)[0] == 200, 10, "there is room again")


def _upload_refused(front, head, open_uploads):
    client = socket.create_connection(("127.0.0.1", front.port), 60)
    open_uploads.append(client)
    client.sendall(head)
    client.settimeout(1)
    try:
        return b" 503 " in client.recv(100)
    except TimeoutError:
        return False


def test_the_worker_gets_facts_that_a_client_cannot_set(front):
    forged = {"Surface": "internal", "X-Agentsim-Surface": "internal", "Request-Id": "x", "Remote-Addr": "10.0.0.1", "Proxy": "http://evil"}
    _, headers, body = ask(front.port, "GET", "/besser_api/a%2Fb?q=1", headers=forged)
    params = body["params"]
    assert params["SURFACE"] == "public"
    assert params["REQUEST_ID"] == headers["X-Request-ID"]
    assert params["REMOTE_ADDR"] == "127.0.0.1"
    assert "HTTP_PROXY" not in params
    assert (params["REQUEST_URI"], params["SCRIPT_NAME"], params["QUERY_STRING"]) == ("/besser_api/a%2Fb?q=1", "/besser_api/a/b", "q=1")
    for path in ("/health", "/metrics", "/sessions", "/anything"):
        assert ask(front.internal_port, "GET", path)[2]["params"]["SURFACE"] == "internal"
    for path in ("/health", "/health/", "/besser_api", "/besser_api/", "/besser_api/simulation/a/b/ws"):
        assert ask(front.port, "GET", path)[2]["params"]["SURFACE"] == "public"


def test_headers_come_from_nginx_alone(front):
    status, headers, body = ask(front.port, "GET", "/besser_api/")
    assert status == 200 and "params" in body, "X-Accel-Redirect has no effect"
    assert_ours(headers)
    assert headers["X-Accel-Redirect"] is None
    assert_ours(ask(front.internal_port, "GET", "/health")[1])


def test_the_log_names_the_request_and_no_query(front):
    _, headers, _ = ask(front.port, "GET", "/besser_api/github/callback?code=secret")
    wait_until(lambda: headers["X-Request-ID"] in front.access_log(), 5, "the request is logged")
    line = next(line for line in front.access_log().splitlines() if headers["X-Request-ID"] in line)
    assert '"/besser_api/github/callback" 200' in line
    assert "secret" not in front.access_log()


def test_a_socket_gets_its_headers_from_nginx(front):
    url = f"ws://127.0.0.1:{front.port}/besser_api/simulation/{uuid.uuid4()}/ws"
    forged = {"X-Agentsim-Surface": "internal", "X-Real-IP": "10.0.0.1", "X-Agent-Simulator-Token": "t", "Cookie": "c" * 5000}
    with connect(url, proxy=None, additional_headers=forged, origin="http://example.org") as ws:
        seen = json.loads(ws.recv(timeout=60))
    headers = {name.lower(): value for name, value in seen["headers"].items()}
    assert url.endswith(seen["path"])
    assert (headers["x-agentsim-surface"], headers["x-real-ip"]) == ("public", "127.0.0.1")
    assert (headers["origin"], headers["host"]) == ("http://example.org", f"127.0.0.1:{front.port}")
    assert uuid.UUID(headers["x-request-id"]).version == 4
    assert not {"cookie", "x-agent-simulator-token", "sec-websocket-extensions"} & set(headers)

    with connect(f"ws://127.0.0.1:{front.internal_port}/sessions/s/ws", proxy=None, additional_headers=forged) as ws:
        headers = {name.lower(): value for name, value in json.loads(ws.recv(timeout=60))["headers"].items()}
    assert (headers["x-agentsim-surface"], headers["x-agent-simulator-token"]) == ("internal", "t")


def test_large_frames_pass_both_ways(front):
    with connect(f"ws://127.0.0.1:{front.port}/besser_api/simulation/s/ws", proxy=None, max_size=None) as ws:
        ws.recv(timeout=60)
        message = "ü" * (4 * MIB)
        sender = threading.Thread(target=ws.send, args=(message,))
        sender.start()
        assert ws.recv(timeout=60) == message
        sender.join()


def test_an_open_socket_survives_a_reload(front):
    with connect(f"ws://127.0.0.1:{front.port}/besser_api/simulation/s/ws", proxy=None) as ws:
        ws.recv(timeout=60)
        before = set(children_of(front.nginx.pid))
        assert front.command("-s", "reload").returncode == 0
        wait_until(lambda: set(children_of(front.nginx.pid)) - before, 10, "a new worker runs")
        wait_until(lambda: ask(front.port, "GET", "/health")[0] == 200, 10, "the new worker answers")
        for number in range(5):
            ws.send(str(number))
            assert ws.recv(timeout=60) == str(number)
        assert before & set(children_of(front.nginx.pid)), "the old worker keeps the conversation"
    wait_until(lambda: not before & set(children_of(front.nginx.pid)), 10, "the old worker ends with its last conversation")
