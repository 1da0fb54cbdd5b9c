"""Servers of a test's own world, for agents that look for a way out (tests/support/netns.py).

    world.py http LOG [--tls CERT KEY]     HTTP on every address, port 80 or 443; one line per connection into LOG
    world.py dns LOG                       names on 127.0.0.1: see NAMES

LOG gets "<local address> <port> <first line of the request>"; a connection without a request is a line, too.
"""
import argparse
import http.server
import json
import socket
import socketserver
import ssl
import struct
import sys
import threading
import time

# What a name leads to; several lists: one answer after the other, the last one again and again.
NAMES = {
    "world.example": [["11.77.0.2", "2a11:77::2"]],
    "six.example": [["2a11:77::2"]],
    "inner.example": [["10.77.0.2"]],
    "loop.example": [["127.0.0.1", "::1"]],
    "here.example": [["11.77.0.1"]],
    "meta.example": [["169.254.169.254"]],
    "mixed.example": [["10.77.0.2", "11.77.0.2"]],
    "mapped.example": [["::ffff:127.0.0.1"]],
    "rebind.example": [["11.77.0.2"], ["127.0.0.1"]],
    "rebind-too.example": [["11.77.0.2"], ["127.0.0.1"]],
    "api.listed.example": [["11.77.0.2"]],
    "inner.listed.example": [["10.77.0.2"]],
}


def note(path, text):
    with open(path, "a", encoding="utf-8") as log:
        log.write(text + "\n")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60

    def setup(self):
        super().setup()
        self.noted = False

    def handle(self):
        super().handle()
        if not self.noted:
            self.note("-")

    def note(self, text):
        self.noted = True
        address = self.connection.getsockname()[:2]
        note(self.server.log, f"{address[0].removeprefix('::ffff:')} {address[1]} {text}")

    def parse_request(self):
        self.note(self.raw_requestline.decode("latin-1").strip())
        return super().parse_request()

    def do_GET(self):
        if self.path.startswith("/stream/"):
            return self.stream(*map(float, self.path.split("/")[2:4]))
        size = int(self.path.removeprefix("/big/")) if self.path.startswith("/big/") else None
        body = b"x" * size if size is not None else self.facts()
        self.reply(body)

    def do_POST(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            got = b""
            while n := int(self.rfile.readline(), 16):
                got += self.rfile.read(n)
                self.rfile.readline()
            self.rfile.readline()
        else:
            got = self.rfile.read(int(self.headers["Content-Length"]))
        self.reply(self.facts(len(got)))

    def facts(self, got=0):
        return json.dumps({"world": True, "method": self.command, "path": self.path, "got": got,
                           "headers": {k.lower(): v for k, v in self.headers.items()},
                           "peer": self.client_address[0]}).encode()

    def reply(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self, gap, times):
        """Answers that take their time: a word, a gap, a word ..."""
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for i in range(int(times)):
            if i:
                time.sleep(gap)
            self.wfile.write(b"5\r\nword%d\r\n" % (i % 10))
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *_args):
        pass


class Web(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6
    daemon_threads = True

    def server_bind(self):
        self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        super().server_bind()

    def handle_error(self, *_args):
        pass


class Names(socketserver.BaseRequestHandler):
    asked = {}
    lock = threading.Lock()

    def handle(self):
        data, sock = self.request
        labels, at = [], 12
        while data[at]:
            labels.append(data[at + 1:at + 1 + data[at]].decode("latin-1"))
            at += data[at] + 1
        question, kind = data[12:at + 5], struct.unpack("!H", data[at + 1:at + 3])[0]
        name = ".".join(labels).lower()
        note(self.server.log, f"{name} {kind}")
        records = b""
        found = self.addresses(name, kind)
        for address in found:
            raw = socket.inet_pton(socket.AF_INET6 if kind == 28 else socket.AF_INET, address)
            records += b"\xc0\x0c" + struct.pack("!HHIH", kind, 1, 0, len(raw)) + raw
        code = 0 if name in NAMES else 3
        sock.sendto(data[:2] + struct.pack("!HHHHH", 0x8180 | code, 1, len(found), 0, 0) + question + records,
                    self.client_address)

    def addresses(self, name, kind):
        answers = NAMES.get(name, [[]])
        with self.lock:
            n = self.asked.get((name, kind), 0)
            self.asked[name, kind] = n + 1
        return [a for a in answers[min(n, len(answers) - 1)] if (":" in a) == (kind == 28) and kind in (1, 28)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["http", "dns"])
    parser.add_argument("log")
    parser.add_argument("--tls", nargs=2)
    parser.add_argument("--port", type=int)
    args = parser.parse_args()
    if args.what == "dns":
        server = socketserver.ThreadingUDPServer(("127.0.0.1", 53), Names)
        server.daemon_threads = True
    else:
        server = Web(("::", args.port or (443 if args.tls else 80)), Handler)
        if args.tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*args.tls)
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    server.log = args.log
    print("ready", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    sys.exit(main())
