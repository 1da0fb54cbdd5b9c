"""Our nginx towards proxies in front of it, pages of other origins, and TLS."""
from __future__ import annotations

import http.client
import json
import socket
import ssl
import subprocess
import uuid

import pytest
from websockets.sync.client import connect

from tests.support.front import ROOT, Front, json_reply
from tests.support.stack import free_port

MIB = 1024 * 1024
NAMED, STRANGE = "https://editor.example", "https://evil.example"


def tell(params, _body):
    if params["REQUEST_URI"].startswith("/besser_api/dies"):
        return None
    return json_reply(200, {"address": params["REMOTE_ADDR"], "https": params.get("HTTPS", ""), "scheme": params["REQUEST_SCHEME"]},
                      [("Access-Control-Allow-Origin", "the worker's")] if params["REQUEST_URI"] == "/besser_api/cors" else [])


def tell_socket(ws):
    ws.send(json.dumps({name.lower(): value for name, value in ws.request.headers.raw_items()}))


def ask(port, path, method="GET", body=None, source=None, context=None, **headers):
    kind = http.client.HTTPSConnection if context else http.client.HTTPConnection
    connection = kind("127.0.0.1", port, timeout=30, source_address=source and (source, 0), **({"context": context} if context else {}))
    connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, answer.headers, json.loads(content) if content.startswith(b"{") else content


# ---- addresses ----

@pytest.fixture(scope="module")
def behind_proxies():
    """127.0.0.2 and a range are proxies; whoever comes from 127.0.0.1 is anybody."""
    with Front(tell, tell_socket, TRUSTED_PROXIES="127.0.0.2, 198.51.100.0/24, 2001:db8:f::/48") as front:
        yield front


@pytest.mark.parametrize("peer, forwarded, address", [
    ("127.0.0.1", None, "127.0.0.1"),
    ("127.0.0.1", "192.0.2.9", "127.0.0.1"),  # not a proxy: not believed
    ("127.0.0.2", None, "127.0.0.2"),
    ("127.0.0.2", "192.0.2.9", "192.0.2.9"),
    ("127.0.0.2", "203.0.113.5, 192.0.2.9", "192.0.2.9"),  # what the client said in front does not count
    ("127.0.0.2", "192.0.2.9, 198.51.100.7", "192.0.2.9"),  # through two proxies
    ("127.0.0.2", "198.51.100.7", "198.51.100.7"),
    ("127.0.0.2", "2001:db8::1", "2001:db8::1"),
    ("127.0.0.2", "2001:db8::1, 2001:db8:f::1", "2001:db8::1"),
    ("127.0.0.2", "nonsense", "127.0.0.2"),
    ("127.0.0.2", "192.0.2.9, nonsense", "127.0.0.2"),
    ("127.0.0.2", "", "127.0.0.2"),
    ("127.0.0.2", "192.0.2.9:4711", "192.0.2.9"),
])
def test_only_named_proxies_are_believed(behind_proxies, peer, forwarded, address):
    headers = {} if forwarded is None else {"X_Forwarded_For": forwarded}
    more = {"X_Real_IP": "203.0.113.77", "Forwarded": "for=203.0.113.78", "Client_IP": "203.0.113.79"}
    assert ask(behind_proxies.port, "/besser_api/", source=peer, **headers, **more)[2]["address"] == address
    with connect(f"ws://127.0.0.1:{behind_proxies.port}/besser_api/simulation/s/ws", proxy=None, source_address=(peer, 0),
                 additional_headers={name.replace("_", "-"): value for name, value in {**headers, **more}.items()}) as ws:
        assert json.loads(ws.recv(timeout=60))["x-real-ip"] == address


@pytest.mark.parametrize("peer, said, tls", [
    ("127.0.0.2", "https", True), ("127.0.0.2", "http", False), ("127.0.0.2", None, False), ("127.0.0.2", "x https", False),
    ("127.0.0.2", "https, http", False), ("127.0.0.1", "https", False),
])
def test_a_named_proxy_tells_that_tls_ends_there(behind_proxies, peer, said, tls):
    more = {"X_Forwarded_For": "192.0.2.9", **({"X_Forwarded_Proto": said} if said else {})}
    status, headers, body = ask(behind_proxies.port, "/besser_api/", source=peer, **more)
    assert (status, body["https"], body["scheme"]) == (200, "on" if tls else "", "https" if tls else "http")
    assert (headers["Strict-Transport-Security"] is not None) is tls


def test_without_named_proxies_nobody_is_believed():
    with Front(tell, tell_socket) as front:
        body = ask(front.port, "/besser_api/", X_Forwarded_For="192.0.2.9", X_Forwarded_Proto="https")[2]
        assert (body["address"], body["https"]) == ("127.0.0.1", "")
        with connect(f"ws://127.0.0.1:{front.port}/besser_api/simulation/s/ws", proxy=None,
                     additional_headers={"X-Forwarded-For": "192.0.2.9"}) as ws:
            assert json.loads(ws.recv(timeout=60))["x-real-ip"] == "127.0.0.1"


# ---- other origins ----

@pytest.fixture(scope="module")
def open_to_one():
    with Front(tell, tell_socket, origins=f'"{NAMED}" "{NAMED}";\n') as front:
        yield front


ERRORS = [("GET", "/besser_api/dies", None, 502), ("POST", "/besser_api/x", b"x" * (50 * MIB + 1), 413), ("GET", "/nothing", None, 404),
          ("GET", "/besser_api/simulation/x/ws", None, 426), ("POST", "/", b"", 405), ("GET", "/" + "a" * 9000, None, 414)]


@pytest.mark.parametrize("method, path, body, status", ERRORS)
@pytest.mark.parametrize("origin", [NAMED, STRANGE, "null", None])
def test_errors_of_nginx_can_be_read_by_named_origins(open_to_one, method, path, body, status, origin):
    if body and len(body) > MIB:
        got, headers, detail = announce(open_to_one.port, path, len(body), origin)
    else:
        got, headers, detail = ask(open_to_one.port, path, method, body, **({"Origin": origin} if origin else {}))
    assert (got, list(detail)) == (status, ["detail"])
    named = origin == NAMED and status != 414  # an address that was never read comes without its header fields
    assert headers["Access-Control-Allow-Origin"] == (NAMED if named else None)
    assert headers["Access-Control-Allow-Credentials"] == ("true" if named else None)
    assert headers["Vary"] == ("Origin" if named else None)


def announce(port, path, length, origin):
    """A body that is refused by its length alone; nobody sends it."""
    with socket.create_connection(("127.0.0.1", port), 60) as client:
        line = f"Origin: {origin}\r\n" if origin else ""
        client.sendall(f"POST {path} HTTP/1.1\r\nHost: x\r\n{line}Content-Length: {length}\r\n\r\n".encode())
        answer = http.client.HTTPResponse(client)
        answer.begin()
        return answer.status, answer.headers, json.loads(answer.read())


def test_what_a_worker_says_about_origins_stays_its_own(open_to_one):
    for origin in (NAMED, STRANGE):
        headers = ask(open_to_one.port, "/besser_api/cors", Origin=origin)[1]
        assert headers.get_all("Access-Control-Allow-Origin") == ["the worker's"]
        assert ask(open_to_one.port, "/besser_api/", Origin=origin)[1]["Access-Control-Allow-Origin"] is None


def test_the_internal_surface_is_for_no_page(open_to_one):
    status, headers, _ = ask(open_to_one.internal_port, "/besser_api/dies", Origin=NAMED)
    assert (status, headers["Access-Control-Allow-Origin"]) == (502, None)


def test_all_origins_can_be_let_in_without_their_credentials():
    with Front(tell, tell_socket, origins=f'"{NAMED}" "{NAMED}";\n"" "";\ndefault "*";\n') as front:
        for origin, allowed, credentials in ((NAMED, NAMED, "true"), (STRANGE, "*", None), (None, None, None)):
            headers = ask(front.port, "/nothing", **({"Origin": origin} if origin else {}))[1]
            assert (headers["Access-Control-Allow-Origin"], headers["Access-Control-Allow-Credentials"]) == (allowed, credentials)


# ---- TLS ----

@pytest.fixture(scope="module")
def with_tls(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", folder / "k.pem", "-out", folder / "c.pem"],
                   check=True, capture_output=True)
    port = free_port()
    example = (ROOT / "nginx" / "snippets" / "tls.example.conf").read_text()
    for old, new in (("listen 443 ", f"listen 127.0.0.1:{port} "), ("/etc/ssl/certs/agentsim.pem", str(folder / "c.pem")),
                     ("/etc/ssl/private/agentsim.key", str(folder / "k.pem"))):
        assert old in example
        example = example.replace(old, new)
    with Front(tell, tell_socket, local={"public-tls.conf": example}) as front:
        front.tls_port = port
        front.context = ssl.create_default_context(cafile=str(folder / "c.pem"))
        yield front


def test_the_tls_example_works_and_sends_hsts_where_it_counts(with_tls):
    for path, status in (("/", 200), ("/besser_api/", 200), ("/nothing", 404), ("/besser_api/dies", 502)):
        got, headers, _ = ask(with_tls.tls_port, path, context=with_tls.context)
        assert (got, headers["Strict-Transport-Security"]) == (status, "max-age=31536000; includeSubDomains")
        got, headers, _ = ask(with_tls.port, path)
        assert (got, headers["Strict-Transport-Security"]) == (status, None)
    assert ask(with_tls.tls_port, "/besser_api/", context=with_tls.context)[2] == {"address": "127.0.0.1", "https": "on", "scheme": "https"}
    assert ask(with_tls.port, "/besser_api/")[2]["https"] == ""


def test_sockets_and_the_second_version_of_http_go_over_tls(with_tls):
    with connect(f"wss://127.0.0.1:{with_tls.tls_port}/besser_api/simulation/{uuid.uuid4()}/ws", proxy=None, ssl=with_tls.context) as ws:
        assert json.loads(ws.recv(timeout=60))["x-agentsim-surface"] == "public"
    done = subprocess.run(["curl", "-sk", "--noproxy", "*", "--http2", "-w", "%{http_version}", "-o", "/dev/null",
                           f"https://127.0.0.1:{with_tls.tls_port}/besser_api/"], capture_output=True, text=True, check=True)
    assert done.stdout == "2"


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
@pytest.mark.parametrize("version, works", [("TLSv1_1", False), ("TLSv1_2", True), ("TLSv1_3", True)])
def test_old_versions_of_tls_are_refused(with_tls, version, works):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if not works:
        context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version = context.maximum_version = getattr(ssl.TLSVersion, version)
    with socket.create_connection(("127.0.0.1", with_tls.tls_port), 60) as plain:
        if works:
            context.wrap_socket(plain).close()
        else:
            with pytest.raises((ssl.SSLError, ConnectionError)):
                context.wrap_socket(plain)


def test_plain_words_on_the_tls_port_get_an_error(with_tls):
    status, headers, body = ask(with_tls.tls_port, "/besser_api/")
    assert status == 400 and body["detail"]
    assert headers["X-Content-Type-Options"] == "nosniff"
