"""The way out (egress proxy, policy "public")"""
import json
import socket

from kit import attempt, each, facts

JUDGED = "the proxy judges the address that it dials"
FULL_FORM = "the proxy takes names and addresses in full form only"


def ask(text):
    with socket.create_connection(("127.0.0.1", 3128), 15) as s:
        s.sendall(text.encode("latin-1"))
        got = b""
        while part := s.recv(65536):
            got += part
            if b"\r\n\r\n" in got and text.startswith("CONNECT"):
                break
        return got


def ways(target):
    """The status of a tunnel there and of a plain request there."""
    return sorted({int(ask(text).split()[1]) for text in (
        f"CONNECT {target} HTTP/1.1\r\nHost: x\r\n\r\n", f"GET http://{target}/ HTTP/1.1\r\nHost: x\r\n\r\n")})


@attempt("(the way out is there: what follows is refused, not broken)", [[200]])
def public_host():
    """reach a public host, by name and by address"""
    return each(ways, ["world.example:80", "11.77.0.2:80"])


@attempt(JUDGED, [[403]])
def loopback_through_the_proxy():
    """have the proxy connect to the machine's loopback"""
    return each(ways, ["127.0.0.1:8080", "127.9.9.9:8080", "[::1]:8080", "0.0.0.0:8080", "[::]:8080", "localhost:8080", "LOCALHOST.:8080"])


@attempt(JUDGED, [[403]])
def private_ranges_through_the_proxy():
    """have the proxy connect to private, shared, link-local and multicast ranges"""
    return each(ways, ["10.77.0.2:80", "172.16.0.1:80", "192.168.77.2:80", "100.64.0.2:80", "[fd77::2]:80", "[fe80::1]:80", "224.0.0.1:80",
                       "[ff02::1]:80", "255.255.255.255:80", "240.0.0.1:80"])


@attempt(JUDGED, [[403]])
def metadata_through_the_proxy():
    """ask the cloud's metadata service for credentials"""
    return each(ways, ["169.254.169.254:80", "[fd00:ec2::254]:80", "meta.example:80", "[::ffff:169.254.169.254]:80"])


@attempt(JUDGED, [[403]])
def ipv4_in_ipv6():
    """write an inner IPv4 address as IPv6: mapped, compatible, translated, NAT64, 6to4, Teredo"""
    return each(ways, ["[::ffff:127.0.0.1]:8080", "[::ffff:7f00:1]:8080", "[::127.0.0.1]:8080", "[::ffff:0:127.0.0.1]:8080",
                       "[64:ff9b::127.0.0.1]:8080", "[64:ff9b::10.77.0.2]:80", "[2002:7f00:1::1]:8080", "[2001:0:7f00:1::]:80"])


@attempt(FULL_FORM, [[400]])
def disguised_addresses():
    """write an inner address as one number, in octal, in hexadecimal, shortened, with a user, with a zone"""
    return each(ways, ["127.1:8080", "2130706433:8080", "0x7f000001:8080", "0177.0.0.1:8080", "127.0.0.01:8080", "127.0.0.1.:8080",
                       "[fe80::1%25lo]:80", "127.0.0.1:8080@11.77.0.2:80", "11.77.0.2:80@127.0.0.1:8080", "127.0.0.1%2eworld.example:80",
                       "11.77.0.2:65616", "\xb9\xb2\xb7.0.0.1:8080"])


@attempt(JUDGED, [[403]])
def names_that_lead_inside():
    """use a name of one's own zone that leads to an inner address"""
    return each(ways, ["loop.example:8080", "inner.example:80", "mapped.example:8080", "here.example:8080"])


@attempt("a name is resolved once, the address that was judged is dialled", [200, 403, 403])
def names_that_change_their_mind():
    """a name server that answers a public address first and the loopback next (rebinding)"""
    return [int(ask(f"GET http://{facts['rebind']}/ HTTP/1.1\r\nHost: x\r\n\r\n").split()[1]) for _ in range(3)]


@attempt(JUDGED, [[403]])
def public_address_of_the_machine():
    """reach the machine itself by its public address, where its packet filter lets its own traffic through"""
    return each(ways, ["11.77.0.1:8080", "[2a11:77::1]:8080"])


@attempt("the host is taken from the target and told to the server", "world.example")
def another_host_header():
    """name an allowed target and another host in the header"""
    answer = ask("GET http://world.example/ HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n")
    return json.loads(answer.partition(b"\r\n\r\n")[2])["headers"]["host"]


@attempt("one request goes over a connection", 1)
def second_request():
    """send a second request for an inner address over the first one's connection"""
    return ask("GET http://world.example/ HTTP/1.1\r\nHost: x\r\n\r\nGET http://127.0.0.1:8080/ HTTP/1.1\r\nHost: x\r\n\r\n").count(b"HTTP/1.1 ")


@attempt("a head that can be read in two ways is refused", [400])
def smuggled_request():
    """two lengths, a length and chunks, folded and split header lines"""
    def post(headers):
        return int(ask(f"POST http://world.example/ HTTP/1.1\r\nHost: x\r\n{headers}\r\n\r\n0\r\n\r\n").split()[1])
    return each(post, ["Content-Length: 3\r\nTransfer-Encoding: chunked", "Content-Length: 3\r\nContent-Length: 5", "Content-Length: +3",
                       "Transfer-Encoding: chunked, identity", "Content-Length : 3", "X: a\r\n folded: b", "X: a\nHost: y", "X: a\0b"])


@attempt("http:// and CONNECT, nothing else", [400])
def other_schemes():
    """targets of other kinds: files, sockets, other protocols, none, the proxy itself"""
    def get(target):
        return int(ask(f"GET {target} HTTP/1.1\r\nHost: x\r\n\r\n").split()[1])
    return each(get, ["file:///etc/passwd", "unix:/run/x", "ftp://world.example/", "gopher://world.example/", "https://world.example/", "//world.example/", "/",
                      "*", "world.example:80", "http:world.example", "http:///x", "http://", "http://:80/", "http://world.example:/", "http://world.example:0/",
                      "http://world.example:99999/", "http://[::1/", "http://::1:80/"])


@attempt("a head is bounded", [400], [431], [400, 431])
def giant_heads():
    """heads without an end: a long target, a long line, many lines, a megabyte of blanks"""
    def send(text):
        with socket.create_connection(("127.0.0.1", 3128), 15) as s:
            try:
                s.sendall(text.encode())
            except OSError:
                pass
            try:
                got = s.recv(200)
            except ConnectionResetError:  # answered and closed while we still wrote
                return 431
        return int(got.split()[1]) if got else 431
    return each(send, ["GET http://world.example/" + "a" * (1 << 20) + " HTTP/1.1\r\n\r\n", "GET http://world.example/ HTTP/1.1\r\nX: " + "a" * (1 << 20) + "\r\n\r\n",
                       "GET http://world.example/ HTTP/1.1\r\n" + "X: y\r\n" * 200_000 + "\r\n", "CONNECT " + "a" * (1 << 20) + ":80 HTTP/1.1\r\n\r\n",
                       "GET http://world.example/ HTTP/1.1\r\n" + " " * (1 << 20)])


@attempt("a body ends where its length or its last chunk says, and the connection with it", 1)
def request_behind_a_body():
    """hide a second request behind a body of chunks, behind a length of none, behind an upgrade"""
    inner = "GET http://127.0.0.1:8080/inner HTTP/1.1\r\nHost: x\r\n\r\n"
    heads = ["POST http://world.example/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
             "POST http://world.example/ HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
             "GET http://world.example/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n"]
    return max(ask(head + inner).count(b"HTTP/1.1 ") for head in heads)


@attempt("hosts are checked before they are logged", [400])
def words_for_the_log():
    """put a line or control sequences into the service's log through the name of a host"""
    return each(lambda host: int(ask(f"CONNECT {host}:80 HTTP/1.1\r\n\r\n").split()[1]), ["a\x1b[31mFORGED", "a\rFORGED", "a\tFORGED", "a\x85FORGED"])
