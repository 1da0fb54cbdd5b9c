"""A stand-in for the service, for tests of its clients: starts and ends sessions, speaks the conversation socket.

    with FakeService(script) as service: ... service.url, service.requests, service.heard

script is called with a Conversation per connection, on a thread; standard library only.
"""

import base64
import hashlib
import json
import socket
import struct
import threading
import time

GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
SESSION = "11111111-2222-4333-8444-555555555555"


class Gone(Exception):
    """The client closed its connection."""


class Conversation:
    def __init__(self, sock, service):
        self.sock, self.service = sock, service

    def _take(self, count):
        data = b""
        while len(data) < count:
            more = self.sock.recv(count - len(data))
            if not more:
                raise Gone
            data += more
        return data

    def receive(self):
        """The next text message as JSON; pings are answered, a close ends the conversation."""
        while True:
            first, second = self._take(2)
            length = second & 0x7F
            if length == 126:
                length, = struct.unpack("!H", self._take(2))
            elif length == 127:
                length, = struct.unpack("!Q", self._take(8))
            assert second & 0x80, "a client masks its frames"
            mask = self._take(4)
            payload = bytes(byte ^ mask[i % 4] for i, byte in enumerate(self._take(length)))
            if first & 0x0F == 0x8:
                self.service.closed_with.append(struct.unpack("!H", payload[:2])[0] if payload else None)
                raise Gone
            if first & 0x0F == 0x1:
                frame = json.loads(payload)
                self.service.heard.append(frame)
                return frame

    def raw(self, first, payload):
        length = len(payload)
        if length < 126:
            head = struct.pack("!BB", first, length)
        elif length < 65536:
            head = struct.pack("!BBH", first, 126, length)
        else:
            head = struct.pack("!BBQ", first, 127, length)
        self.sock.sendall(head + payload)

    def send(self, frame):
        self.raw(0x81, (frame if isinstance(frame, str) else json.dumps(frame)).encode("utf-8"))

    def reply(self, message, action="agent_reply_str"):
        self.send({"action": action, "message": message, "history": False, "timestamp": "", "message_id": None})

    def close(self, code):
        self.raw(0x88, struct.pack("!H", code))
        try:
            while self.sock.recv(4096):
                pass
        except OSError:
            pass


class FakeService:
    def __init__(self, script, refuse=None):
        self.script, self.refuse = script, refuse
        self.requests, self.heard, self.closed_with, self.failures = [], [], [], []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def __enter__(self):
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_exc):
        self.listener.close()

    def close_code(self, seconds=60):
        """The code the client closed with; waits for it, None when it does not come."""
        end = time.monotonic() + seconds
        while not self.closed_with and time.monotonic() < end:
            time.sleep(0.01)
        return self.closed_with[0] if self.closed_with else None

    def _accept(self):
        while True:
            try:
                sock, _peer = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock):
        with sock:
            try:
                self._talk(sock)
            except (Gone, OSError):
                pass
            except Exception as error:  # shown by the test
                self.failures.append(repr(error))

    def _talk(self, sock):
        data = b""
        while b"\r\n\r\n" not in data:
            more = sock.recv(65536)
            if not more:
                return
            data += more
        head, _sep, body = data.partition(b"\r\n\r\n")
        line, *header_lines = head.decode("latin-1").split("\r\n")
        method, path, _version = line.split(" ")
        headers = {k.strip().lower(): v.strip() for k, _c, v in (h.partition(":") for h in header_lines)}
        if headers.get("upgrade", "").lower() == "websocket":
            return self._upgrade(sock, path, headers)
        if "100-continue" in headers.get("expect", ""):
            sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        while len(body) < int(headers.get("content-length", 0)):
            body += sock.recv(65536)
        self.requests.append((method, path, json.loads(body) if body else None))
        status, answer = self.refuse or (200, {"sessionId": SESSION, "eventList": []})
        if method == "DELETE":
            status, answer = 200, {"ok": True}
        text = json.dumps(answer).encode()
        sock.sendall(b"HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
                     % (status, len(text)) + text)

    def _upgrade(self, sock, path, headers):
        self.requests.append(("WS", path, None))
        accept = base64.b64encode(hashlib.sha1((headers["sec-websocket-key"] + GUID).encode()).digest()).decode()
        sock.sendall(("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                      f"Sec-WebSocket-Accept: {accept}\r\n\r\n").encode())
        self.script(Conversation(sock, self))
