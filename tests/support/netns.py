"""Network namespaces that a test makes itself: nothing of it leaves this machine, whatever the addresses look like.

    with Network() as net:                      # "here", where the service runs, and "world", joined by a cable
        net.run("world", [...])                 # a server there
        with net.inside("here"): ...            # sockets of this thread are made here
"""
from __future__ import annotations

import contextlib
import ctypes
import os
import pathlib
import shutil
import subprocess

CLONE_NEWNET = 0x40000000
libc = ctypes.CDLL(None, use_errno=True)


def ip(*args):
    subprocess.run(["ip", *args], check=True)


class Network:
    """HERE: the machine's own addresses towards the world. WORLD: what is out there, public and not."""

    HERE = ["11.77.0.1/24", "10.77.0.1/24", "2a11:77::1/64"]
    WORLD = ["11.77.0.2/24", "11.77.0.3/24", "10.77.0.2/24", "2a11:77::2/64"]
    STRANGE = ["169.254.169.254", "100.64.0.2", "192.168.77.2", "fd77::2"]  # in the world, routed there

    def __init__(self):
        self.names = {side: f"agentsim-{os.getpid()}-{side}" for side in ("here", "world")}
        self.etc = pathlib.Path("/etc/netns") / self.names["here"]
        self.servers = []

    def __enter__(self):
        try:
            self._make()
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(self, *_exc):
        self._remove()

    def _make(self):
        here, world = self.names["here"], self.names["world"]
        for name in (here, world):
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
        ip("-n", here, "link", "add", "out", "type", "veth", "peer", "name", "out", "netns", world)
        for name, addresses in ((here, self.HERE), (world, self.WORLD)):
            ip("-n", name, "link", "set", "out", "up")
            for address in addresses:
                ip("-n", name, "address", "add", address, "dev", "out", *(["nodad"] if ":" in address else []))
        for address in self.STRANGE:
            ip("-n", world, "address", "add", address, "dev", "lo")
            ip("-n", here, "route", "add", address, "via", "2a11:77::2" if ":" in address else "11.77.0.2")
        # What a name means there is the name server of the test, on that loopback.
        self.etc.mkdir(parents=True)
        (self.etc / "resolv.conf").write_text("nameserver 127.0.0.1\noptions timeout:1 attempts:2\n")
        (self.etc / "hosts").write_text("127.0.0.1 localhost\n")
        (self.etc / "nsswitch.conf").write_text("passwd: files\ngroup: files\nhosts: files dns\n")

    def _remove(self):
        for server in self.servers:
            server.terminate()
        for server in self.servers:
            server.wait(60)
        for name in self.names.values():
            subprocess.run(["ip", "netns", "delete", name], stderr=subprocess.DEVNULL)
        shutil.rmtree(self.etc, ignore_errors=True)
        with contextlib.suppress(OSError):
            self.etc.parent.rmdir()

    def command(self, side):
        """What stands before a command that is to run there, with that side's names."""
        return ["ip", "netns", "exec", self.names[side]]

    def run(self, side, command):
        """A server there: the process, once it has printed a line."""
        server = subprocess.Popen([*self.command(side), *map(str, command)], stdout=subprocess.PIPE, text=True)
        self.servers.append(server)
        assert server.stdout.readline(), command
        return server

    @contextlib.contextmanager
    def inside(self, side):
        """Sockets that this thread makes belong to that side."""
        with open("/proc/thread-self/ns/net") as before, open(f"/run/netns/{self.names[side]}") as there:
            _enter(there.fileno())
            try:
                yield
            finally:
                _enter(before.fileno())


def _enter(fd):
    if libc.setns(fd, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")
