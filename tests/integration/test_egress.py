"""What an agent reaches of the network, and what not: with the clients that agents use, against servers in namespaces
that this test makes. The service itself lives in one of them, so that "the host's loopback", "its public address" and
"a private neighbour" are all there to be reached by mistake, and would be noticed."""
import contextlib
import json
import pathlib
import re
import subprocess
import sys

import pytest
from websockets.exceptions import ConnectionClosed

from tests.support.netns import Network
from tests.support.stack import Stack, wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
SERVERS = ROOT / "tests" / "support"
ALLOW = ("world.example:80, *.listed.example:80,*.listed.example:443,127.0.0.1:8080,10.77.0.2:443,11.77.0.3:80,"
         "unknown.example:80")

# Runs what it is told to and says what came of it. Each client uses the proxy as it finds it in the environment.
AGENT = r"""
import http.client, json, os, socket, sys, threading, time, traceback
CA = os.path.abspath("ca.pem")

def urllib_(url, data=None, headers={}):
    import ssl, urllib.request, urllib.error
    handler = urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=CA))
    try:
        with urllib.request.build_opener(handler).open(urllib.request.Request(url, data, headers), timeout=30) as r:
            return [r.status, r.read().decode()]
    except urllib.error.HTTPError as e:
        return [e.code, e.read().decode()]

def requests_(url, **kw):
    import requests
    r = requests.get(url, timeout=30, verify=CA, **kw)
    return [r.status_code, r.text]

def httpx_(url):
    import httpx, ssl
    with httpx.Client(timeout=30, verify=ssl.create_default_context(cafile=CA)) as c:
        r = c.get(url)
        return [r.status_code, r.text]

def openai_(url, stream=False):
    import openai
    client = openai.OpenAI(base_url=url, api_key="sk-x", max_retries=0, timeout=30)
    r = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "[[say from the model]]"}], stream=stream)
    if stream:
        return [200, "".join(c.choices[0].delta.content or "" for c in r if c.choices)]
    return [200, r.choices[0].message.content]

def raw(text, more=b"", wait=30):
    s = socket.create_connection(("127.0.0.1", 3128), wait)
    s.sendall(text.encode("latin-1"))
    got = b""
    while part := s.recv(65536):
        got += part
        if more and b"\r\n\r\n" in got:
            s.sendall(more)
            more = b""
    return [int(got.split()[1]) if got else 0, got[:4000].decode("latin-1")]

def connect(target):
    return raw(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n", b"GET /tunnel HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")

def get(url):
    return raw(f"GET {url} HTTP/1.1\r\nHost: x\r\n\r\n")

def tried(f, *args, **kw):
    try:
        return f(*args, **kw)
    except Exception as e:
        text = [type(e).__name__ + ": " + str(e)]
        while (e := e.__cause__ or e.__context__) and len(text) < 6:
            text.append(type(e).__name__ + ": " + str(e))
        return [-1, " | ".join(text)]

out = []
%s
print("REPORT " + json.dumps(out), flush=True)
"""


@pytest.fixture(scope="module")
def net(tmp_path_factory):
    folder = tmp_path_factory.mktemp("egress")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=world.example", "-addext",
                    "subjectAltName=DNS:world.example,DNS:api.listed.example,DNS:six.example", "-keyout",
                    folder / "key.pem", "-out", folder / "ca.pem"], check=True, stderr=subprocess.DEVNULL)
    with Network() as network:
        network.log, network.dns_log, network.ca = folder / "hits", folder / "names", (folder / "ca.pem").read_text()
        network.log.touch()
        server = [sys.executable, SERVERS / "world.py"]
        network.run("world", [*server, "http", network.log])
        network.run("world", [*server, "http", network.log, "--tls", folder / "ca.pem", folder / "key.pem"])
        network.run("world", [sys.executable, SERVERS / "fake_llm.py", "--host", "11.77.0.2", "--port", "8000"])
        network.run("here", [*server, "http", network.log, "--port", "8080"])
        network.run("here", [*server, "dns", network.dns_log])
        with network.inside("here"):
            yield network


@contextlib.contextmanager
def service(net, **settings):
    running = Stack(**{"AGENT_SIMULATOR_READY_SECONDS": "600", **settings})
    running.wrapper = net.command("here")
    with running:
        yield running
        running.assert_clean()
        log = running.log_text()
        assert "Sanitizer" not in log and "runtime error:" not in log


@pytest.fixture(scope="module")
def public(net):
    with service(net) as running:
        yield running


@pytest.fixture(scope="module")
def allow(net):
    with service(net, AGENT_SIMULATOR_EGRESS="allow", AGENT_SIMULATOR_EGRESS_ALLOW=ALLOW) as running:
        yield running


def frames_of(stack, session):
    with stack.internal_socket(session) as ws:
        frames = []
        with pytest.raises(ConnectionClosed):
            while True:
                frames.append(json.loads(ws.recv(timeout=120)))
    return frames


def run(net, stack, *tries, code=None):
    """The answers to lines of Python such as "httpx_('http://...')": [status, text] each, status -1 for an exception."""
    code = code or "\n".join(f"out.append(tried(lambda: {line}))" for line in tries)
    session = stack.create_program(AGENT.replace("%s", code), support_files={"ca.pem": net.ca})
    said = [f.get("line", "") for f in frames_of(stack, session)]
    reports = [line for line in said if line.startswith("REPORT ")]
    assert reports, "\n".join(said)
    return json.loads(reports[0].removeprefix("REPORT "))


def hits(net):
    return net.log.read_text().splitlines()


# ---- what is reached ------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("client", ["urllib_", "requests_", "httpx_"])
@pytest.mark.parametrize("url", ["http://world.example/x?y=z", "https://world.example/x?y=z", "http://11.77.0.2/x?y=z",
                                 "http://[2a11:77::2]/x?y=z", "https://six.example/x?y=z"])
def test_clients_reach_public_hosts(net, public, client, url):
    [status, text], = run(net, public, f"{client}({url!r})")
    if client == "httpx_" and "[" in url:  # it writes the address without its brackets, which is no target
        assert status == 400 and "full form" in text
        return
    assert status == 200, text
    seen = json.loads(text)
    assert seen["world"] and seen["path"] == "/x?y=z" and seen["method"] == "GET"
    assert seen["peer"] in ("::ffff:11.77.0.1", "2a11:77::1")
    assert seen["headers"]["host"] == url.split("/")[2]
    if url.startswith("http:"):
        assert seen["headers"]["connection"] == "close"
        assert not [h for h in seen["headers"] if h.startswith("proxy")]


def test_the_openai_client_reaches_its_model_also_streaming(net, public):
    whole, streamed = run(net, public, "openai_('http://11.77.0.2:8000/v1')", "openai_('http://11.77.0.2:8000/v1', stream=True)")
    assert whole == streamed == [200, "from the model"]


def test_bodies_pass_whole_in_both_directions(net, public):
    sent, chunked, got = run(
        net, public, "urllib_('http://world.example/up', b'u' * 3000000)",
        "requests_ and [200, __import__('requests').post('http://world.example/up', data=(b'c' * 70000 for _ in range(30)), timeout=30).text]",
        "[200, str(len(urllib_('https://world.example/big/9000000')[1]))]")
    assert json.loads(sent[1])["got"] == 3000000
    assert json.loads(chunked[1])["got"] == 2100000
    assert got[1] == "9000000"


def test_connections_are_used_again_where_they_are_tunnels(net, public):
    before = len(hits(net))
    answers, = run(net, public, code="import requests\ns = requests.Session()\ns.verify = CA\n"
                   "out.append([s.get('https://world.example/n').status_code for _ in range(5)] + "
                   "[s.get('http://world.example/n').status_code for _ in range(5)])")
    assert answers == [200] * 10
    assert len(hits(net)) - before == 10


def test_an_answer_that_takes_its_time_is_not_cut(net, public):
    """Longer without a word than every limit on a connection that is being made (30, 20, 15 s)."""
    plain, tunnel = run(net, public, code="results = {}\n"
                        "def go(url):\n"
                        "    import requests\n"
                        "    results[url] = tried(lambda: [200, requests.get(url, timeout=90, verify=CA).text])\n"
                        "urls = ['http://world.example/stream/36/2', 'https://world.example/stream/36/2']\n"
                        "threads = [threading.Thread(target=go, args=(u,)) for u in urls]\n"
                        "[t.start() for t in threads]\n[t.join() for t in threads]\nout = [results[u] for u in urls]")
    assert plain == tunnel == [200, "word0word1"]


def test_an_agents_own_servers_are_not_asked_for_through_the_proxy(net, public):
    [status, text], = run(net, public, code="import http.server\n"
                          "class H(http.server.BaseHTTPRequestHandler):\n"
                          "    def do_GET(self): self.send_response(204); self.end_headers()\n"
                          "    def log_message(self, *a): pass\n"
                          "s = http.server.HTTPServer(('127.0.0.1', 9000), H)\n"
                          "threading.Thread(target=s.serve_forever, daemon=True).start()\n"
                          "out.append(tried(urllib_, 'http://localhost:9000/'))")
    assert status == 204, text


# ---- what is not ----------------------------------------------------------------------------------------------------

INNER = ["127.0.0.1:8080", "127.9.9.9:8080", "[::1]:8080", "10.77.0.2:80", "192.168.77.2:80", "169.254.169.254:80", "100.64.0.2:80",
         "[fd77::2]:80", "0.0.0.0:8080", "[::]:8080", "224.0.0.1:80", "255.255.255.255:80", "[fe80::1]:80", "[ff02::1]:80",
         # forms of an IPv4 address that IPv6 has
         "[::ffff:127.0.0.1]:8080", "[::ffff:7f00:1]:8080", "[::127.0.0.1]:8080", "[::ffff:0:127.0.0.1]:8080",
         "[64:ff9b::127.0.0.1]:8080", "[64:ff9b::10.77.0.2]:80", "[2002:7f00:1::1]:8080", "[2002:a4d:2::1]:80",
         "[2001:0:7f00:1::]:80", "[::ffff:169.254.169.254]:80",
         # names that lead there
         "localhost:8080", "loop.example:8080", "inner.example:80", "meta.example:80", "mapped.example:8080", "LOCALHOST.:8080",
         # this machine's own public address: its packet filter lets its own traffic through
         "11.77.0.1:8080", "[2a11:77::1]:8080", "here.example:8080"]

DISGUISED = ["127.1:8080", "2130706433:8080", "0x7f000001:8080", "0x7f.1:8080", "0177.0.0.1:8080", "127.0.0.1.:8080", "127.0.0.01:8080",
             "[fe80::1%25lo]:80", "[::ffff:127.0.0.1%25lo]:80", "127.0.0.1:8080@11.77.0.2:80", "11.77.0.2:80@127.0.0.1:8080",
             "11.77.0.2#@127.0.0.1:8080", "127.0.0.1\\@11.77.0.2:80", "127.0.0.1%2eworld.example:80", "a b:80", ":8080", "11.77.0.2:0",
             "11.77.0.2:65616", "\xb9\xb2\xb7.0.0.1:8080"]


def test_inner_addresses_are_refused_in_every_spelling(net, public):
    before = hits(net)
    answers = run(net, public, *[line for t in INNER for line in (f"connect({t!r})", f"get('http://{t}/')")])
    for i, (status, text) in enumerate(answers):
        assert status == 403, (INNER[i // 2], text)
        assert 'policy "public"' in text and "refuses" in text and "address" in text
    assert hits(net) == before


def test_addresses_in_disguise_are_no_addresses(net, public):
    before = hits(net)
    answers = run(net, public, *[line for t in DISGUISED for line in (f"connect({t!r})", f"get('http://{t}/')")])
    for i, (status, text) in enumerate(answers):
        assert status == 400, (DISGUISED[i // 2], text)
    assert hits(net) == before


def test_every_client_is_told_why(net, public):
    answers = run(net, public, "urllib_('http://inner.example/')", "requests_('http://meta.example/latest/meta-data/')",
                  "httpx_('http://10.77.0.2/')")
    for status, text in answers:
        assert status == 403 and 'The egress policy "public" of this service refuses' in text
    answers = run(net, public, "urllib_('https://inner.example/')", "requests_('https://10.77.0.2/')", "httpx_('https://inner.example/')",
                  "openai_('http://inner.example/v1')")
    for status, text in answers:
        assert status == -1 and ("403" in text or "Forbidden" in text), text


def test_a_name_is_resolved_once_and_the_checked_address_is_dialled(net, public):
    """The second answer of its zone's owner is this machine's loopback."""
    first, second = run(net, public, "get('http://rebind.example:80/')", "get('http://rebind.example:8080/')")
    assert first[0] == 200 and json.loads(first[1].partition("\r\n\r\n")[2])["world"]
    assert second[0] == 403 and "loopback" in second[1] and "127.0.0.1" not in second[1]
    mixed, = run(net, public, "get('http://mixed.example/')")
    assert mixed[0] == 200
    assert not [h for h in hits(net) if h.startswith(("10.77.", "127.", "192.168", "169.254", "100.64", "fd77", "11.77.0.1 "))]


def test_redirects_lead_no_further_than_requests(net, public):
    answers = run(net, public, "[200, str([urllib_('http://world.example/')[0], urllib_('http://127.1:8080/')[0]])]",
                  "raw('GET http://world.example/ HTTP/1.1\\r\\nHost: 127.0.0.1:8080\\r\\n\\r\\n')")
    assert answers[0][1] == "[200, 400]"
    assert '"host": "world.example"' in answers[1][1]


def test_one_request_goes_over_a_connection(net, public):
    before = len(hits(net))
    [status, text], = run(net, public, "raw('GET http://world.example/one HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n"
                                       "GET http://127.0.0.1:8080/two HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n')")
    assert status == 200 and text.count("HTTP/1.1 200") == 1
    assert [h.split()[3] for h in hits(net)[before:]] == ["/one"]


def test_there_is_no_other_way_out(net, public):
    before = hits(net)
    answers = run(net, public, "socket.create_connection(('11.77.0.2', 80), 5) and [200, '']",
                  "socket.create_connection(('2a11:77::2', 80), 5) and [200, '']",
                  "socket.create_connection(('10.77.0.1', 8080), 5) and [200, '']",
                  "socket.create_connection(('127.0.0.1', 8080), 5) and [200, '']",
                  "socket.getaddrinfo('world.example', 80) and [200, '']",
                  "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('11.77.0.2', 53)) and [200, '']",
                  "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW) and [200, '']",
                  "socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM) and [200, '']",
                  "socket.socket(socket.AF_PACKET, socket.SOCK_RAW) and [200, '']")
    for status, text in answers:
        assert status == -1 and "OSError" in text or "Refused" in text or "gaierror" in text, text
    assert hits(net) == before


def test_sessions_do_not_share_their_way_out(net, public):
    """The proxy of one is on its own loopback: the abstract and the host's loopback are not the other's."""
    first = public.create_program("import time\nprint('up', flush=True)\ntime.sleep(600)")
    answers = run(net, public, "[200, str(sorted(l.split()[1] for l in open('/proc/net/tcp').read().splitlines()[1:]))]")
    assert answers[0][1] == str(["0100007F:0C38"])  # 127.0.0.1:3128, its own
    public.internal("DELETE", f"/sessions/{first}")


# ---- hostile words --------------------------------------------------------------------------------------------------

def test_nonsense_is_answered_and_the_proxy_lives(net, public):
    answers = run(net, public, "raw('\\x16\\x03\\x01 TLS here\\r\\n\\r\\n')", "raw('GET / HTTP/1.1\\r\\n\\r\\n')",
                  "raw('GET http://world.example/ HTTP/1.1\\r\\nX: ' + 'x' * 40000)",
                  "raw('POST http://world.example/ HTTP/1.1\\r\\nContent-Length: 3\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n')",
                  "raw('CONNECT unknown.example:80 HTTP/1.1\\r\\n\\r\\n')", "raw('CONNECT 11.77.0.2:9 HTTP/1.1\\r\\n\\r\\n')",
                  "get('http://world.example/')")
    assert [status for status, _ in answers] == [400, 400, 431, 400, 502, 502, 200]
    assert "refused" in answers[5][1] and not [s for s, _ in answers if s == 407]


def test_connections_have_a_limit_and_come_back(net, public):
    held, told, after = run(net, public, code=r"""
conns = []
for i in range(64):
    c = socket.create_connection(("127.0.0.1", 3128), 30)
    c.sendall(b"CONNECT world.example:80 HTTP/1.1\r\n\r\n")
    conns.append(c)
out.append([int(c.recv(100).split()[1]) for c in conns])
out.append(tried(get, "http://world.example/"))
[c.close() for c in conns]
until = time.monotonic() + 20
while (answer := tried(get, "http://world.example/"))[0] != 200 and time.monotonic() < until:
    time.sleep(0.1)
out.append(answer)
""")
    assert held == [200] * 64
    assert told[0] == 503 and "too many connections" in told[1]
    assert after[0] == 200


def test_an_agent_that_is_ended_leaves_no_connection(net, public):
    session = public.create_program(AGENT.replace("%s", "c = socket.create_connection(('127.0.0.1', 3128))\n"
                                                  "c.sendall(b'GET http://world.example/stream/100/9 HTTP/1.1\\r\\n\\r\\n')\n"
                                                  "print(c.recv(10), flush=True)\nprint('open', flush=True)\ntime.sleep(600)"))
    with public.internal_socket(session) as ws:
        while json.loads(ws.recv(timeout=60)).get("line") != "open":
            pass
        assert connected(net)
        assert public.internal("DELETE", f"/sessions/{session}").status == 200
    public.assert_clean()
    wait_until(lambda: not connected(net), 10, "the connection to the server is gone")


def connected(net):
    out = subprocess.run(["ss", "-Htn", "state", "established", "dst", "11.77.0.2"], capture_output=True, text=True, check=True)
    six = subprocess.run(["ss", "-Htn", "state", "established", "dst", "[2a11:77::2]"], capture_output=True, text=True, check=True)
    return out.stdout + six.stdout


def test_hosts_and_bytes_are_in_the_log(net, public):
    run(net, public, "get('http://world.example/big/100000')", "connect('inner.example:22')")
    log = wait_until(lambda: (text := public.log_text()).count("egress: refused inner.example:22 (10.77.0.2)") and text, 10, "it is logged")
    assert "a private address" in log
    carried = re.compile(r"egress: carried world\.example:80 \(.* bytes up, (\d+)")
    wait_until(lambda: any(int(down) > 100000 for down in carried.findall(public.log_text())), 10, "what was carried is logged")


def test_the_log_is_no_place_to_flood(net, public):
    run(net, public, code="for _ in range(300): get('http://127.0.0.1/')")
    log = wait_until(lambda: (text := public.log_text()).count(", 300 refused, ") and text, 10, "the sum is logged")
    tail = log[log.rindex(", 300 refused, ") - 40000:]
    assert "more connections" in tail
    assert log.count("refused 127.0.0.1:80") < 60


# ---- the other policies ---------------------------------------------------------------------------------------------

def test_allow_means_the_list_and_nothing_else(net, allow):
    reached = run(net, allow, "get('http://world.example/')", "get('http://api.listed.example/')", "requests_('https://api.listed.example/')",
                  "get('http://127.0.0.1:8080/')", "get('http://11.77.0.3/')", "connect('127.0.0.1:8080')")
    for status, text in reached:
        assert status == 200, text
    names = net.dns_log.read_text()
    refused = run(net, allow, "get('http://other.example/')", "get('http://world.example:8080/')", "get('http://listed.example/')",
                  "get('http://11.77.0.2/')", "get('http://localhost:8080/')", "get('http://127.0.0.2:8080/')", "get('http://[::1]:8080/')",
                  "get('http://[::ffff:127.0.0.1]:8080/')", "get('http://10.77.0.2/')", "connect('world.example:443')",
                  "get('http://secret-in-a-name.attacker.example/')")
    for status, text in refused:
        assert status == 403 and "it is not in the list of allowed hosts" in text and 'policy "allow"' in text, text
    assert net.dns_log.read_text() == names  # not even asked for


def test_a_listed_name_leads_inside_only_to_listed_addresses(net, allow):
    plain, tls = run(net, allow, "get('http://inner.listed.example/')", "connect('inner.listed.example:443')")
    assert plain[0] == 403 and "leads to a private address" in plain[1]
    assert tls[0] == 200, tls


def test_limits_and_ranges_are_the_operators(net):
    with service(net, AGENT_SIMULATOR_EGRESS="allow", AGENT_SIMULATOR_EGRESS_ALLOW="10.77.0.0/24:80,world.example:80,[2a11:77::/32]:80",
                 AGENT_SIMULATOR_EGRESS_CONNECTIONS="2", AGENT_SIMULATOR_EGRESS_MB="1", AGENT_SIMULATOR_EGRESS_HEAD_SECONDS="3") as stack:
        inside, six, outside, slow, held, told, first, cut = run(net, stack, code=r"""
for url in ("http://10.77.0.2/", "http://[2a11:77::2]/", "http://192.168.77.2/"):
    out.append(tried(get, url))
c = socket.create_connection(("127.0.0.1", 3128), 30)
c.sendall(b"GET http://wor")
out.append([int(c.recv(100).split()[1]), "a head that does not come"])
conns = []
for i in range(2):
    c = socket.create_connection(("127.0.0.1", 3128), 30)
    c.sendall(b"CONNECT world.example:80 HTTP/1.1\r\n\r\n")
    conns.append(c)
out.append([int(c.recv(100).split()[1]) for c in conns])
out.append(tried(get, "http://world.example/"))
[c.close() for c in conns]
until = time.monotonic() + 20
while (answer := tried(get, "http://world.example/"))[0] == 503 and time.monotonic() < until:
    time.sleep(0.1)
out.append(answer)
c = socket.create_connection(("127.0.0.1", 3128), 30)
c.sendall(b"GET http://world.example/big/3000000 HTTP/1.1\r\n\r\n")
size = 0
try:
    while part := c.recv(65536):
        size += len(part)
except ConnectionResetError:
    pass
out.append([size, tried(get, "http://world.example/")])
""")
        assert (inside[0], six[0], outside[0], slow[0], held, first[0]) == (200, 200, 403, 408, [200, 200], 200)
        assert told[0] == 503 and "too many connections" in told[1]
        size, after = cut
        assert 500_000 < size < 1 << 20 and after[0] != 200, "a MiB and no more, then nothing"


def test_none_means_none(net):
    with service(net, AGENT_SIMULATOR_EGRESS="none") as stack:
        proxy, env, direct = run(net, stack, "get('http://world.example/')",
                                 "[200, str([k for k in os.environ if 'proxy' in k.lower()])]",
                                 "urllib_('http://11.77.0.2/')")
        assert proxy[0] == -1 and "refused" in proxy[1]
        assert env == [200, "[]"]
        assert direct[0] == -1 and "unreachable" in direct[1]


def test_a_list_that_makes_no_sense_is_a_reason_to_refuse_sessions(net):
    stack = Stack(AGENT_SIMULATOR_EGRESS="allow", AGENT_SIMULATOR_EGRESS_ALLOW="world.example:80,127.1:80")
    stack.wrapper = net.command("here")
    verdict = stack.sandbox
    stack.sandbox = lambda: "ok" if '"127.1:80" is not host:port' in str(verdict()) else "not yet"
    with stack:
        reply = stack.internal("POST", "/sessions", {"session_id": "6f6a3b7e-54a5-4c38-9d0c-0f2a1d3b4c5e", "agent_code": "pass", "config_yaml": "",
                                                     "env_vars": {}, "event_list": [], "support_files": {}, "workspace_paths": []})
        assert reply.status == 503, reply
    stack = Stack(AGENT_SIMULATOR_EGRESS="allow", AGENT_SIMULATOR_EGRESS_ALLOW="no port")
    stack.wrapper = net.command("here")
    with pytest.raises(AssertionError, match="host:port"), stack:
        pass
