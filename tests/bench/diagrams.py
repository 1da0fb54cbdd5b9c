"""The diagrams that are measured."""
from __future__ import annotations

from tests.support.draw import Diagram, text


def small():
    """One state that greets; any word is said back."""
    d = Diagram("Echo_agent")
    idle = d.state("idle", text("ready"))
    answer = d.state("answer", text("{user_message}", fill=True))
    d.on(idle, answer)
    d.on(answer, answer)
    return d.request()


def chain(states):
    """States in a row, each with an intent of three sentences, two replies and a fallback; from each a way on."""
    d = Diagram(f"Chain_{states}")
    before = None
    for n in range(states):
        d.intent(f"intent_{n}", f"go to {n}", f"please go to state number {n}", f"take me to {n}")
        state = d.state(f"state_{n}", text(f"This is state {n}"), text(f"You said {{user_message}} in {n}", fill=True),
                        fallback=[text(f"Not understood in {n}")])
        if before:
            d.go(before, state, "when_intent_matched", intentName=f"intent_{n}")
        before = state
    return d.request()


# A light agent, for measurements of the way to it: it says back what it hears, without the framework. "flood N SIZE"
# sends N frames of SIZE bytes. Both services start it as they start any program.
ECHO_PROGRAM = '''
import os, select, socket, struct, base64, hashlib

def frame(data):
    n = len(data)
    if n < 126: return bytes((0x81, n)) + data
    if n < 65536: return struct.pack("!BBH", 0x81, 126, n) + data
    return struct.pack("!BBQ", 0x81, 127, n) + data

from websockets.speedups import apply_mask as unmask

class Client:
    def __init__(self, s):
        self.s, self.buf, self.open = s, b"", False
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    def hello(self):
        end = self.buf.find(b"\\r\\n\\r\\n")
        if end < 0: return
        key = next(l.split(b":", 1)[1].strip() for l in self.buf[:end].split(b"\\r\\n") if l.lower().startswith(b"sec-websocket-key:"))
        accept = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
        self.s.sendall(b"HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Accept: " + accept + b"\\r\\n\\r\\n")
        self.buf, self.open = self.buf[end + 4:], True
    def feed(self):
        data = self.s.recv(1 << 20)
        if not data: return False
        self.buf += data
        if not self.open: self.hello()
        out, at, buf = [], 0, self.buf
        while self.open and len(buf) - at >= 6:
            op, n, head = buf[at] & 15, buf[at + 1] & 127, 2
            if n == 126:
                n, head = int.from_bytes(buf[at + 2:at + 4], "big"), 4
            elif n == 127:
                if len(buf) - at < 10: break
                n, head = int.from_bytes(buf[at + 2:at + 10], "big"), 10
            if len(buf) - at < head + 4 + n: break
            body = unmask(buf[at + head + 4:at + head + 4 + n], buf[at + head:at + head + 4])
            at += head + 4 + n
            if op == 8: return False
            if op == 9: out.append(bytes((0x8a, len(body))) + body)
            elif op < 8 and body.startswith(b"flood "):
                count, size = map(int, body.split()[1:])
                one = frame(b"x" * size)
                some = max(1, 65536 // len(one))
                while count > 0:
                    self.s.sendall(one * min(some, count))
                    count -= some
            elif op < 8: out.append(frame(body))
        self.buf = buf[at:]
        if out: self.s.sendall(b"".join(out))
        return True

listener = socket.create_server(("127.0.0.1", int(os.environ["BESSER_WS_PORT"])), backlog=100)
print("listening", flush=True)
poll, clients = select.poll(), {}
poll.register(listener, select.POLLIN)
while True:
    for fd, _ in poll.poll():
        if fd == listener.fileno():
            s, _ = listener.accept()
            clients[s.fileno()] = Client(s)
            poll.register(s, select.POLLIN)
            continue
        c = clients[fd]
        try: alive = c.feed()
        except OSError: alive = False
        if not alive:
            poll.unregister(fd)
            del clients[fd]
            c.s.close()
'''
