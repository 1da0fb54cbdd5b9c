"""The machine"""
import ctypes
import os
import struct
import time

from kit import attempt, call, each, facts, read

ADMINISTRATOR = "system call filter: the machine's administrator"


@attempt(ADMINISTRATOR, ["EPERM"])
def modules():
    """load and remove kernel modules"""
    return each(call, [("init_module", b"x", 1, b""), ("finit_module", 0, b"", 0), ("delete_module", b"ext4", 0)])


@attempt(ADMINISTRATOR, ["EPERM"])
def another_kernel():
    """load another kernel"""
    return each(call, [("kexec_load", 0, 0, 0, 0), ("kexec_file_load", 0, 0, 0, 0, 0)])


@attempt(ADMINISTRATOR, ["EPERM"])
def rebooting():
    """restart or halt the machine"""
    return each(lambda command: call("reboot", 0xFEE1DEAD, 672274793, command, 0), [0x89ABCDEF, 0x01234567, 0xCDEF0123])


@attempt(ADMINISTRATOR, ["EPERM"])
def swap():
    """switch swap on and off"""
    return each(call, [("swapon", b"/work/agent.py", 0), ("swapoff", b"/swapfile")])


@attempt(ADMINISTRATOR, ["EPERM"])
def clock():
    """set or bend the machine's clock"""
    now = struct.pack("qq", int(time.time()) + 3600, 0)
    return each(call, [("settimeofday", now, 0), ("clock_settime", 0, now), ("adjtimex", ctypes.create_string_buffer(256)),
                       ("clock_adjtime", 0, ctypes.create_string_buffer(256))])


@attempt(ADMINISTRATOR, ["EPERM"])
def name_of_the_machine():
    """rename the machine"""
    return each(call, [("sethostname", b"owned", 5), ("setdomainname", b"owned", 5)])


@attempt("own UTS namespace", ["agent", "agent"])
def true_name_of_the_machine():
    """learn the machine's name"""
    return [os.uname().nodename, read("/proc/sys/kernel/hostname").strip()]


@attempt(ADMINISTRATOR, ["EPERM"])
def kernel_log():
    """read and clear the kernel's log"""
    return each(lambda kind: call("syslog", kind, ctypes.create_string_buffer(4096), 4096), [2, 3, 4, 5, 10])


@attempt(ADMINISTRATOR, ["EPERM"])
def accounting_and_hangups():
    """start process accounting, hang up terminals, open I/O ports"""
    return each(call, [("acct", b"/work/tmp/acct"), ("vhangup",), *([("iopl", 3), ("ioperm", 0, 1024, 1)] if facts["calls"]["iopl"] >= 0 else [])])


@attempt("resource limit", ["ENOMEM"])
def locked_memory():
    """lock more memory than its limit"""
    return each(call, [("mlockall", 3)])
