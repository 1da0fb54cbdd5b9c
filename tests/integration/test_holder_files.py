"""A holder by itself: what it shows of the files that an agent made."""
import contextlib
import os
import stat

import pytest

from tests.support import wire
from tests.support.holder import server
from tests.support.stack import wait_until
from tests.support.wire import Closed, Failed


def test_files_are_listed_and_read(holder, control):
    holder.run(server(setup="os.makedirs('out/empty'); open('out/a.txt','w').write('A'*1000)\n"
                            "open('out/big','wb').write(bytes(3_000_000)); open('none','w').close()\n"
                            "open('tmp/secret','w').write('x'); open('caf\\u00e9 \\udcff','w').write('odd')"),
               dirs=["given/deep"], )
    control.phase(wire.IS_READY)
    files, dirs, truncated = holder.list(1000)
    assert dirs == ["given", "given/deep", "out", "out/empty"] and not truncated
    assert files["out/a.txt"] == b"A" * 1000 and files["out/big"] is None and files["none"] == b""
    assert files["caf\u00e9 \udcff"] == b"odd" and not any(path.startswith("tmp") for path in files)
    assert holder.read("out/big") == bytes(3_000_000) and holder.read("none") == b""
    walked, dirs, truncated = holder.walk()
    assert walked["out/big"] == bytes(3_000_000) and walked["out/a.txt"] == b"A" * 1000 and not truncated
    assert set(walked) == set(files)


@pytest.mark.parametrize("path", ["", ".", "..", "../x", "/etc/passwd", "nothing", "link", "dir/passwd", "fifo", "out", "tmp/x",
                                  "tmp", "self/agent.py", "sock", "shut/x", "a\nb", "x" * 4096])
def test_nothing_but_regular_files_below_the_work_directory_is_read(holder, control, path):
    holder.run(server(setup="os.symlink('/etc/passwd','link'); os.symlink('/etc','dir'); os.mkfifo('fifo'); os.mkdir('out')\n"
                            "os.symlink('.','self'); open('tmp/x','w').close(); os.mkdir('shut'); open('shut/x','w').close(); os.chmod('shut',0)\n"
                            "import socket; s=socket.socket(socket.AF_UNIX); s.bind('sock')"))
    control.phase(wire.IS_READY)
    with pytest.raises((Failed, Closed)) as caught:
        holder.read(path)
    assert not isinstance(caught.value, Failed) or caught.value.kind == 5
    assert set(holder.list()[0]) == {"agent.py"}
    assert set(holder.walk()[0]) == {"agent.py"}


def test_endless_trees_are_cut(holder, control):
    holder.run(server(setup="os.makedirs('m')\nfor i in range(11000): open('m/%d' % i, 'w').close()\n"
                            "d = os.getcwd()\nfor i in range(300):\n    os.mkdir('deep'); os.chdir('deep')\nos.chdir(d)"))
    control.phase(wire.IS_READY)
    files, dirs, truncated = holder.list()
    assert truncated and len(files) + len(dirs) <= 10000
    assert max(d.count("/") for d in dirs) <= 64


def test_a_disk_full_of_names_is_listed_in_part(holder, control):
    """As many files as a session can have at all, and four thousand levels: the answers stay small and come."""
    holder.run(server(setup="import errno\nd = os.getcwd()\nfor i in range(4000):\n    os.mkdir('deep'); os.chdir('deep')\nos.chdir(d)\n"
                            "os.mkdir('m')\n"
                            "try:\n    for i in range(1 << 20): os.mknod('m/%d' % i)\n"
                            "except OSError as e:\n    assert e.errno == errno.ENOSPC"))
    control.phase(wire.IS_READY, timeout=60)
    for files, dirs, truncated in (holder.list(), holder.walk()):
        assert truncated and len(files) + len(dirs) <= 10000
        assert max(d.count("/") for d in dirs) <= 64
    with pytest.raises((Failed, Closed)):
        holder.read("deep/" * 3999 + "deep")


def test_what_is_not_the_sessions_is_not_shown(holder, control):
    """Devices, files of others and hard links to them, as only root can put them there."""
    holder.run(server(setup="open('mine', 'w').write('mine'); os.link('mine', 'linked')"))
    control.phase(wire.IS_READY)
    work = holder.dir / "work"
    os.mknod(work / "null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    os.mknod(work / "disk", 0o666 | stat.S_IFBLK, os.makedev(7, 0))
    (work / "others").write_text("of root")
    os.link(work / "others", work / "others-linked")
    assert set(holder.list()[0]) == set(holder.walk()[0]) == {"agent.py", "mine", "linked"}
    for path in ("null", "disk", "others", "others-linked"):
        with pytest.raises(Failed):
            holder.read(path)


def test_names_of_any_bytes_are_told_as_they_are(holder, control):
    names = [b"a\nb", b"\xff\xfe", b"\xc3\x28", b"tab\t", b"\x1b[31mred", b"'\"\\", b" ", b"\xe2\x80\xae.txt", b"-rf", b"x" * 255]
    holder.run(server(setup=f"for name in {names!r}: open(name, 'wb').write(b'odd')"))
    control.phase(wire.IS_READY)
    files = holder.list()[0]
    shown = {os.fsencode(path) for path in files} - {b"agent.py"}
    assert shown <= set(names) and {b"tab\t", b" ", b"-rf", b"x" * 255} & shown
    assert shown == {os.fsencode(path) for path in holder.walk()[0]} - {b"agent.py"}
    for name in shown:
        assert holder.read(os.fsdecode(name)) == b"odd"


def test_a_tree_that_changes_all_the_time_can_be_read(holder, control):
    holder.run(server(setup="def churn():\n    n = 0\n    while True:\n        n += 1\n        open('f', 'w').write('x' * (n % 9) * 100000)\n"
                            "        try:\n            os.unlink('swap') if n % 2 else os.symlink('/etc/passwd', 'swap')\n        except OSError:\n            pass\n"
                            "        if n % 3 == 0:\n            os.rename('f', 'swap')\n"
                            "threading.Thread(target=churn, daemon=True).start()"))
    control.phase(wire.IS_READY)
    for _ in range(20):
        for files in (holder.list()[0], holder.walk()[0]):
            assert not any(b"root:" in (content or b"") for content in files.values())
        with contextlib.suppress(Failed):
            assert b"root:" not in holder.read("swap")


def test_a_reader_that_stops_reading_blocks_nobody(holder, control):
    holder.run(server(setup="open('big','wb').write(bytes(50_000_000))"))
    control.phase(wire.IS_READY)
    stuck = [wire.Frames(holder.connect()) for _ in range(12)]
    for s in stuck:
        s.send(wire.READ, wire.string("big"))
    with holder.attach() as browser:
        browser.say('{"n": 1}')
        browser.find(lambda f: f == {"n": 1})
    answers = 0
    for s in stuck:  # more than it serves at once
        kind, fields = s.recv()
        answers += kind == wire.HOLD_FAILED and Failed(fields).kind == 8
        s.close()
    assert answers >= 4
    wait_until(lambda: len(holder.processes()) == 4, 10, "the helpers are gone")
