"""The session beside: it holds one of everything, for the attempts to find. Prints what an attacker might guess."""
import ctypes
import fcntl
import json
import os
import socket
import threading
import time


def listening(family, address):
    s = socket.socket(family)
    s.bind(address)
    s.listen()
    return s


udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(("127.0.0.1", 0))
held = [udp, listening(socket.AF_INET, ("127.0.0.1", 8765)), listening(socket.AF_UNIX, "\0sibling"),
        listening(socket.AF_UNIX, "/tmp/sibling.sock"), listening(socket.AF_UNIX, "s.sock")]
for path in ("/tmp/sibling", "/var/tmp/sibling", "/dev/shm/sibling", "/dev/shm/sem.sibling", "/run/sibling", "/work/sibling.txt"):
    with open(path, "w") as f:
        f.write("SECRET OF THE SIBLING")
assert ctypes.CDLL(None).mq_open(b"/sibling", os.O_CREAT | os.O_RDWR, 0o666, None) >= 0
lock = open("/usr/bin/env")
fcntl.flock(lock, fcntl.LOCK_EX)
for s in held[1:]:  # all can be reached from here
    with socket.socket(s.family) as c:
        c.connect(s.getsockname())
print("SIBLING " + json.dumps({"udp": udp.getsockname()[1], "uid": os.getuid()}), flush=True)


def answer():
    while True:
        data, address = udp.recvfrom(100)
        udp.sendto(data, address)


threading.Thread(target=answer, daemon=True).start()
time.sleep(600)
