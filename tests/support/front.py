"""Our nginx alone, with stand-ins of the two programs behind it.

    with Front(fastcgi=answer, websocket=talk) as front:
        urllib.request.urlopen(front.base_url + "/health")

`fastcgi(params, body)` answers a request as (status, headers, body); `websocket(ws)` is a handler of
websockets.sync.server. For what the real programs hardly ever do: hostile replies, broken sockets, errors.
"""
from __future__ import annotations

import contextlib
import http.client
import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import tempfile
import threading

from websockets.sync.server import unix_serve

from tests.support.stack import ROOT, free_port, wait_until

NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/sbin:/bin") or "nginx"


def json_reply(status, value, headers=()):
    return status, [("Content-Type", "application/json"), *headers], json.dumps(value).encode()


class Front:
    def __init__(self, fastcgi=None, websocket=None, examples=ROOT / "docs" / "examples",
                 origins="", local=None, **places):
        """origins: the rows that the keeper would write; local: {name: text} of local/; places: of render.sh."""
        self.origins, self.local, self.places = origins, local or {}, places
        self.fastcgi = fastcgi or (lambda _params, _body: json_reply(200, {"status": "ok"}))
        self.websocket = websocket or (lambda ws: None)
        self.examples = examples
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="agentsim-front-"))
        self.dir.chmod(0o755)
        self.port, self.internal_port = free_port(), free_port()
        self.base_url = f"http://127.0.0.1:{self.port}"
        self.internal_url = f"http://127.0.0.1:{self.internal_port}"
        self.conf = self.dir / "conf" / "agentsim.conf"
        self.nginx = None
        self.undo = contextlib.ExitStack()

    def __enter__(self):
        self.undo.callback(shutil.rmtree, self.dir, ignore_errors=True)
        try:
            self._render()
            self._serve_fastcgi(self.dir / "run" / "fcgi.sock")
            self._serve_websocket(self.dir / "run" / "ws.sock")
            self._start()
        except BaseException:
            self.undo.close()
            raise
        return self

    def __exit__(self, *_exc):
        self.undo.close()

    def _render(self):
        for name in ("run", "state", "conf"):
            (self.dir / name).mkdir(mode=0o755)
        subprocess.run([ROOT / "nginx" / "install-www.sh", self.examples, self.dir / "www"], check=True)
        subprocess.run([ROOT / "nginx" / "render.sh", self.conf], check=True, env={
            **os.environ,
            "RUNTIME_DIR": str(self.dir / "run"),
            "STATE_DIR": str(self.dir / "state"),
            "WWW_DIR": str(self.dir / "www"),
            "CONF_DIR": str(self.dir / "conf"),
            "PUBLIC_LISTEN": f"127.0.0.1:{self.port}",
            "INTERNAL_LISTEN": f"127.0.0.1:{self.internal_port}",
            **self.places,
        })
        (self.dir / "run" / "nginx-origins.conf").write_text(self.origins)
        for name, text in self.local.items():
            (self.dir / "conf" / "local").mkdir(exist_ok=True)
            (self.dir / "conf" / "local" / name).write_text(text)

    # ---- nginx ----

    def command(self, *arguments):
        return subprocess.run([NGINX, "-c", self.conf, *arguments], capture_output=True, text=True, check=False)

    def _start(self):
        self.log = open(self.dir / "error.log", "ab")
        self.undo.callback(self.log.close)
        self.nginx = subprocess.Popen([NGINX, "-c", self.conf, "-g", "daemon off;"], stderr=self.log)
        self.undo.callback(self._stop)
        wait_until(self._listens, 10, "nginx listens")

    def _stop(self):
        self.nginx.terminate()
        self.nginx.wait(60)

    def _listens(self):
        if self.nginx.poll() is not None:
            raise AssertionError((self.dir / "error.log").read_text())
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        return False

    def access_log(self):
        return (self.dir / "state" / "nginx-access.log").read_text()

    # ---- stand-ins ----

    def _serve_fastcgi(self, path):
        server = socket.socket(socket.AF_UNIX)
        server.bind(str(path))
        os.chmod(path, 0o666)
        server.listen(128)
        self.undo.callback(server.close)

        def accept():
            while True:
                try:
                    client, _ = server.accept()
                except OSError:
                    return
                threading.Thread(target=self._answer, args=(client,), daemon=True).start()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        # A blocked accept() does not notice close() of its socket; shutdown wakes it.
        self.undo.callback(lambda: (server.shutdown(socket.SHUT_RDWR), thread.join(5)))

    def _answer(self, client):
        with client, client.makefile("rb") as stream, contextlib.suppress(OSError, EOFError):
            params, body = read_fastcgi(stream)
            reply = self.fastcgi(params, body)
            if reply is None:
                return  # as a worker that dies
            status, headers, content = reply
            head = f"Status: {status} {http.client.responses.get(status, 'Unknown')}\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers) + "\r\n"
            data = head.encode() + content
            for at in range(0, len(data), 32768):
                part = data[at:at + 32768]
                client.sendall(struct.pack("!BBHHBx", 1, 6, 1, len(part), 0) + part)
            client.sendall(struct.pack("!BBHHBx", 1, 6, 1, 0, 0))
            client.sendall(struct.pack("!BBHHBx", 1, 3, 1, 8, 0) + struct.pack("!IB3x", 0, 0))

    def _serve_websocket(self, path):
        # Pings off: tests look at what nginx does with a silent connection.
        server = unix_serve(lambda ws: self.websocket(ws), str(path), max_size=None, compression=None, ping_interval=None)
        os.chmod(path, 0o666)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        self.undo.callback(lambda: (server.shutdown(), thread.join(5)))


def read_fastcgi(stream):
    """One request: ({name: value}, body)."""
    encoded, body = bytearray(), bytearray()
    while True:
        head = stream.read(8)
        if len(head) < 8:
            raise EOFError
        _version, kind, _id, length, padding = struct.unpack("!BBHHBx", head)
        content = stream.read(length)
        stream.read(padding)
        if kind == 4:
            encoded += content
        elif kind == 5:
            if not length:
                return dict(_pairs(bytes(encoded))), bytes(body)
            body += content


def _pairs(data):
    at = 0

    def size():
        nonlocal at
        first = data[at]
        if first < 128:
            at += 1
            return first
        at += 4
        return struct.unpack_from("!I", data, at - 4)[0] & 0x7FFFFFFF

    while at < len(data):
        name, value = size(), size()
        yield data[at:at + name].decode(), data[at + name:at + name + value].decode("latin-1")
        at += name + value
