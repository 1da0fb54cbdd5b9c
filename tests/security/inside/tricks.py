# What the bag's agent leaves in its work directory, for the listing, the download and the archive to stumble over.
import os
import socket
import threading
import time

if not os.path.exists("bag"):
    os.makedirs("bag/real")
    with open("bag/real/file.txt", "w") as f:
        f.write("mine")
    os.link("bag/real/file.txt", "bag/real/again.txt")
    for name, target in {"passwd": "/etc/passwd", "hosts": "/etc/hosts", "top": "/", "up": "../../../../..", "self": ".", "loop": "loop",
                         "proc": "/proc/self/environ", "sibling": "/tmp/sibling"}.items():
        os.symlink(target, "bag/" + name)
    os.mkfifo("bag/fifo")
    socket.socket(socket.AF_UNIX).bind("bag/socket")
    for name in ("a\r\nX-Evil: 1", "..\\..\\evil.txt", "c:evil.txt", 'quote".txt', "<img src=x onerror=alert(1)>.html", "\u202egnp.exe"):
        with open("bag/" + name, "w") as f:
            f.write("odd")
    with open("d:drive.txt", "w") as f:
        f.write("odd")
    with open(b"bag/\xff\xfe", "w") as f:
        f.write("odd")
    with open("bag/sparse", "wb") as f:
        f.truncate(30 << 20)

    def swap():
        n = 0
        while True:
            n += 1
            with open("bag/next", "w") as f:
                f.write("mine")
            os.rename("bag/next", "bag/swap")
            os.symlink("/etc/passwd" if n % 2 else "/proc/self/environ", "bag/next")
            os.rename("bag/next", "bag/swap")
            time.sleep(0.002)

    threading.Thread(target=swap, daemon=True).start()
    print("TRICKS", flush=True)
