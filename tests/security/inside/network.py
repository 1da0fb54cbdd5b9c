"""Network and sockets"""
import socket
import struct

from kit import attempt, call, each, facts, outcome, read

LOOPBACK = "own network namespace: a loopback and nothing else"
FAMILIES = "system call filter: only UNIX and IP sockets"
TRANSPORTS = "system call filter: only TCP and UDP"
NO_CAPABILITY = "no capability over its network namespace"


def tcp(address, family=socket.AF_INET):
    with socket.socket(family) as s:
        s.settimeout(5)
        s.connect(address)
        return "connected"


@attempt(LOOPBACK, "ECONNREFUSED")
def port_of_a_sibling():
    """connect to the port that another session's agent listens on"""
    return tcp(("127.0.0.1", 8765))


@attempt(LOOPBACK, "ECONNREFUSED")
def datagram_port_of_a_sibling():
    """send a datagram to the port that another session's agent answers on"""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.settimeout(3)
        s.connect(("127.0.0.1", facts["sibling"]["udp"]))
        s.send(b"anyone?")
        return s.recv(100).decode()


@attempt("abstract sockets belong to a network namespace", "ECONNREFUSED")
def abstract_socket_of_a_sibling():
    """connect to another session's abstract socket"""
    return tcp("\0sibling", socket.AF_UNIX)


@attempt("abstract sockets belong to a network namespace", "ECONNREFUSED")
def abstract_socket_of_the_machine():
    """connect to an abstract socket of the machine, as X11 and D-Bus have them"""
    return tcp("\0" + facts["abstract"], socket.AF_UNIX)


@attempt("own mount namespace", ["ENOENT"])
def file_socket_of_a_sibling():
    """connect to the sockets that another session made in its /tmp and its work directory"""
    return each(lambda path: tcp(path, socket.AF_UNIX), ["/tmp/sibling.sock", facts["sibling"]["work"] + "/s.sock"])


@attempt("own mount namespace", ["ENOENT"])
def sockets_of_the_service():
    """connect to the service's own sockets by their paths"""
    return each(lambda path: tcp(path, socket.AF_UNIX), facts["sockets"])


@attempt(LOOPBACK, ["ECONNREFUSED"])
def loopback_of_the_machine():
    """connect to the service's public and internal port on the loopback"""
    return each(lambda port: tcp(("127.0.0.1", port)), facts["ports"])


@attempt("no address, no route", ["ENETUNREACH"])
def addresses_of_the_machine():
    """connect straight to the machine's own addresses and to the world"""
    return each(lambda a: tcp((a, 80), socket.AF_INET6 if ":" in a else socket.AF_INET), facts["addresses"])


@attempt("no address, no route", ["ENETUNREACH"])
def broadcast_and_multicast():
    """look for neighbours by broadcast and multicast"""
    def send(family, address):
        with socket.socket(family, socket.SOCK_DGRAM) as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
            return s.sendto(b"x", (address, 1900))
    return each(send, [(socket.AF_INET, "255.255.255.255"), (socket.AF_INET, "239.255.255.250"), (socket.AF_INET6, "ff02::1")])


@attempt(FAMILIES, "EAFNOSUPPORT")
def vsock():
    """speak to the hypervisor (vsock is in no network namespace)"""
    return call("socket", socket.AF_VSOCK, socket.SOCK_STREAM, 0)


@attempt(FAMILIES, "EAFNOSUPPORT")
def vsock_with_high_bits():
    """the same with bits that the kernel ignores and a careless filter compares"""
    return call("socket", 7 << 32 | socket.AF_VSOCK, socket.SOCK_STREAM, 0)


@attempt(FAMILIES, "EAFNOSUPPORT")
def netlink():
    """configure the network, watch processes and devices (netlink)"""
    return call("socket", socket.AF_NETLINK, socket.SOCK_RAW, 0)


@attempt(FAMILIES, "EAFNOSUPPORT")
def packet_socket():
    """read and write raw frames (packet socket)"""
    return call("socket", socket.AF_PACKET, socket.SOCK_RAW, 0x0300)


@attempt(FAMILIES, ["EAFNOSUPPORT"])
def every_other_family():
    """all other families of sockets there are: kernel cryptography, IPsec keys, Bluetooth, XDP, TIPC ..."""
    known = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6)
    return each(lambda family, kind: call("socket", family, kind, 0),
                [(f, k) for f in range(64) if f not in known for k in (1, 2, 3, 5)])


@attempt(FAMILIES, ["EAFNOSUPPORT"])
def pairs_of_every_other_family():
    """pairs of sockets of all other families"""
    import ctypes
    return each(lambda family: call("socketpair", family, 1, 0, ctypes.byref((ctypes.c_int * 2)())), list(range(3, 10)) + list(range(11, 64)))


@attempt(TRANSPORTS, ["EPROTONOSUPPORT", "ESOCKTNOSUPPORT"])
def raw_sockets():
    """forge packets (raw IPv4 and IPv6 sockets)"""
    return each(lambda family, protocol: call("socket", family, socket.SOCK_RAW, protocol), [(2, 1), (2, 6), (2, 255), (10, 58), (10, 255)])


@attempt(TRANSPORTS, ["EPROTONOSUPPORT"])
def rarely_used_transports():
    """ping sockets, SCTP, DCCP, UDP-Lite, MPTCP, L2TP, SMC"""
    return each(lambda *args: call("socket", *args), [(2, 2, 1), (10, 2, 58), (2, 1, 132), (2, 5, 132), (2, 6, 33), (2, 2, 136), (2, 1, 262),
                                                      (2, 2, 115), (10, 1, 262), (2, 1, 256)])


@attempt("no capability", ["EPERM"])
def options_of_the_administrator():
    """socket options that need a capability: marks, transparent proxies, repaired connections, forced buffers"""
    def option(level, number):
        with socket.socket() as s:
            return s.setsockopt(level, number, 7)
    return each(option, [(1, 36), (0, 19), (6, 19), (1, 32), (1, 33)])


@attempt("system call filter", ["EPERM"])
def programs_on_sockets():
    """load programs into the kernel behind a socket (SO_ATTACH_FILTER, SO_ATTACH_BPF, of groups of ports)"""
    def attach(option):
        with socket.socket() as s:
            return s.setsockopt(socket.SOL_SOCKET, option, struct.pack("HxxxxxxP", 1, 0))
    return each(attach, [26, 50, 51, 52])


@attempt("system call filter", ["ENOPROTOOPT"])
def protocols_above_tcp():
    """put rarely used protocols of the kernel above a connection: TLS, MPTCP, SMC, IPsec in TCP"""
    def above(name):
        with socket.socket() as s:
            return s.setsockopt(socket.IPPROTO_TCP, 31, name)
    return each(above, [b"tls", b"mptcp", b"smc", b"espintcp"])


@attempt("system call filter", ["ENOPROTOOPT"])
def keys_for_tcp():
    """sign connections with keys (TCP_MD5SIG, TCP_AO), for which the kernel loads modules by a name of the agent's choice"""
    def sign(option):
        with socket.socket() as s:
            return s.setsockopt(socket.IPPROTO_TCP, option, struct.pack("=HHI", socket.AF_INET, 0, 0x0100007F) + bytes(208))
    return each(sign, [14, 32, 38])


@attempt("system call filter", ["ENODEV"])
def groups_without_number():
    """join multicast groups without number: kernel memory that no control group counts, under a lock that all networks share"""
    loopback, group = socket.inet_aton("127.0.0.1"), socket.inet_aton("239.1.2.3")
    address = struct.pack("=HH4s8x", socket.AF_INET, 0, group).ljust(128, b"\0")
    source = struct.pack("=HH4s8x", socket.AF_INET, 0, loopback).ljust(128, b"\0")
    group6 = socket.inet_pton(socket.AF_INET6, "ff02::77")
    address6 = struct.pack("=HHI16sI", socket.AF_INET6, 0, 0, group6, 0).ljust(128, b"\0")

    def join(family, level, option, value):
        with socket.socket(family, socket.SOCK_DGRAM) as s:
            return s.setsockopt(level, option, value)
    return each(join, [
        (socket.AF_INET, 0, 35, group + loopback), (socket.AF_INET, 0, 39, group + loopback + loopback), (socket.AF_INET, 0, 42, struct.pack("=Q", 1) + address),
        (socket.AF_INET, 0, 46, struct.pack("=Q", 1) + address + source), (socket.AF_INET6, 41, 20, group6 + struct.pack("=I", 1)),
        (socket.AF_INET6, 41, 42, struct.pack("=Q", 1) + address6), (socket.AF_INET6, 41, 46, struct.pack("=Q", 1) + address6 + source)])


@attempt("system call filter", ["ENOPROTOOPT"])
def labels_of_flows():
    """take the labels of IPv6 flows (IPV6_FLOWLABEL_MGR), of which the whole machine has 4096"""
    def label(number):
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as s:
            lease = socket.inet_pton(socket.AF_INET6, "::1") + struct.pack("!I", number) + struct.pack("BBHHHI", 0, 255, 1, 6, 60, 0)
            return s.setsockopt(socket.IPPROTO_IPV6, 32, lease)
    return each(label, [0, 7])


@attempt("system call filter", ["ENOPROTOOPT"])
def tunnels_in_datagrams():
    """have the kernel unpack IPsec and L2TP from datagrams (UDP_ENCAP)"""
    def unpack(kind):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            return s.setsockopt(socket.IPPROTO_UDP, 100, kind)
    return each(unpack, [1, 2, 3, 4])


@attempt("system call filter: the kernel would load modules before it asks for a capability", ["EPERM"])
def modules_behind_a_socket():
    """have kernel modules loaded by asking for bridges and VLANs"""
    import fcntl
    def ask(number):
        with socket.socket() as s:
            return fcntl.ioctl(s, number, b"\0" * 64)
    return each(ask, [0x8940, 0x8941, 0x8982, 0x8983, 0x89A0, 0x89A1])


@attempt("no capability; no other user in its namespace", ["EINVAL", "EPERM"])
def false_names_in_messages():
    """send a message over a UNIX socket in the name of root, of the first process, of another user"""
    def send(pid, uid, gid):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        return ours.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_CREDENTIALS, struct.pack("iii", pid, uid, gid))])
    import os
    return each(send, [(1, os.getuid(), os.getgid()), (os.getpid(), os.getuid() + 1, os.getgid()), (os.getpid(), os.getuid(), os.getgid() + 1)])


@attempt("the first process listened before", ["EADDRINUSE"])
def place_of_the_proxy():
    """listen where the proxy listens, and take the connections of the session's other programs"""
    def listen(address, option):
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, option, 1)
            s.bind((address, 3128))
            return s.listen() or "listens"
    return each(listen, [(a, o) for a in ("127.0.0.1", "0.0.0.0") for o in (socket.SO_REUSEADDR, socket.SO_REUSEPORT)])


@attempt(NO_CAPABILITY, ["EPERM"])
def another_address_and_route():
    """give its network an address, a route, a state by ioctl"""
    import fcntl
    def change(number, data):
        with socket.socket() as s:
            return fcntl.ioctl(s, number, data.ljust(120, b"\0"))
    address = struct.pack("16sHH4s", b"lo", 2, 0, socket.inet_aton("10.0.0.1"))
    return each(change, [(0x8916, address), (0x8914, struct.pack("16sH", b"lo", 0)), (0x890b, b"\0" * 8 + struct.pack("HH4s", 2, 0, b"\0" * 4)),
                         (0x8922, struct.pack("16si", b"lo", 100))])


@attempt(NO_CAPABILITY, "EPERM")
def namespace_behind_a_socket():
    """get a descriptor of the network namespace from a socket (SIOCGSKNS)"""
    import fcntl
    with socket.socket() as s:
        return fcntl.ioctl(s, 0x894C, 0)


@attempt(LOOPBACK, ["lo"])
def interfaces():
    """see the machine's interfaces"""
    return sorted(line.split(":")[0].strip() for line in read("/proc/net/dev").splitlines()[2:])


@attempt("no address, no route", 0)
def routes_and_neighbours():
    """see the machine's routes and neighbours"""
    return sum(len(read(f"/proc/net/{name}").splitlines()) - 1 for name in ("route", "arp"))


@attempt(LOOPBACK, 1)
def connections_of_others():
    """see the sockets and connections of others: there is the proxy's listener"""
    unix = len(read("/proc/net/unix").splitlines()) - 1
    return unix + sum(len(read(f"/proc/net/{name}").splitlines()) - 1 for name in ("tcp", "tcp6", "udp", "udp6"))


@attempt("no resolver in the sandbox", "gaierror: Temporary failure in name resolution", "gaierror: Name or service not known")
def name_server():
    """ask a name server (and tell it something by asking)"""
    return socket.getaddrinfo("secret.world.example", 80)


@attempt("no resolver in the sandbox", "ENOENT")
def resolver_of_the_machine():
    """read which name servers the machine uses"""
    return read("/etc/resolv.conf")
