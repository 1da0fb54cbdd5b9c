"""The session before, in the same slot: leaves whatever can be left behind, then is ended."""
import ctypes
import os
import signal
import subprocess
import time

for path in ("/work/earlier.txt", "/work/tmp/earlier", "/tmp/earlier", "/var/tmp/earlier", "/dev/shm/earlier", "/run/earlier"):
    with open(path, "w") as f:
        f.write("SECRET OF THE EARLIER")
os.makedirs("/work/shut/in")
os.chmod("/work/shut", 0)
os.mkfifo("/work/fifo")
os.symlink("/", "/work/root")
os.mkdir(b"/work/\xff\n..\\")
here = os.getcwd()
for _ in range(4000):
    os.mkdir("deep")
    os.chdir("deep")
os.chdir(here)
ctypes.CDLL(None).mq_open(b"/earlier", os.O_CREAT | os.O_RDWR, 0o666, None)
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execv("/usr/bin/sleep", ["earlier-session", "600"])
        os._exit(0)
subprocess.Popen(["/usr/bin/sleep", "601"])
print("LEFT", flush=True)
time.sleep(600)
