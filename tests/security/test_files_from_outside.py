"""The listing, the download and the archive, asked from outside"""
import io
import socket
import time
import urllib.parse
import zipfile

import pytest

from tests.security.table import stopped_by

BENEATH = "openat2 beneath the work directory, without links"
STRANGE = (b"root:", b"PATH=", b"SIBLING", b"localhost")


@pytest.fixture(scope="module")
def listing(stack, bag):
    started = time.monotonic()
    reply = stack.get(f"/besser_api/simulation/sessions/{bag['session']}/files")
    assert reply.status == 200 and time.monotonic() - started < 60
    return {f["path"]: f["content"] for f in reply.json()["files"]}, reply.json()["directories"], reply.body


@pytest.fixture(scope="module")
def archive(stack, bag):
    reply = stack.get(f"/besser_api/simulation/sessions/{bag['session']}/archive")
    assert reply.status == 200
    return zipfile.ZipFile(io.BytesIO(reply.body))


def download(stack, bag, path):
    return stack.get(f"/besser_api/simulation/sessions/{bag['session']}/files/{path}")


@stopped_by(BENEATH)
def test_links_in_the_listing(listing):
    """links to files and directories outside, to itself, in circles, for the listing to follow"""
    files, directories, body = listing
    assert files["bag/real/file.txt"] == files["bag/real/again.txt"] == "mine"
    assert directories == ["bag", "bag/real"]
    assert not {"passwd", "hosts", "top", "up", "self", "loop", "proc", "sibling"} & {p.split("/")[1] for p in files if p.startswith("bag/")}
    assert not any(word in body.replace(b"/etc/passwd", b"") for word in (b"root:", b"SIBLING_KEY", b"SECRET OF"))


@stopped_by("regular files of the session's user only, opened without waiting")
def test_special_files_in_the_listing(listing, archive):
    """a FIFO and a socket, for a reader to hang on"""
    names = set(listing[0]) | set(archive.namelist())
    assert not {"bag/fifo", "bag/socket"} & names


@stopped_by(BENEATH)
@pytest.mark.parametrize("path", ["bag/passwd", "bag/hosts", "bag/proc", "bag/top/etc/passwd", "bag/up/etc/passwd", "bag/self/real/file.txt", "bag/loop",
                                  "bag/sibling", "bag/fifo", "bag/socket", "bag/real", "bag/top/proc/1/environ"])
def test_links_in_a_download(stack, bag, path):
    """download through links, and of what is no file"""
    reply = download(stack, bag, path)
    assert reply.status == 404 and not any(word in reply.body for word in STRANGE), reply


@stopped_by("paths are checked before they are used")
@pytest.mark.parametrize("path", ["../agent.py", "bag/../../work/agent.py", "%2e%2e/%2e%2e/etc/passwd", "..%2f..%2fetc%2fpasswd", "%2fetc%2fpasswd", "/etc/passwd",
                                  "bag%00/real", "agent.py%00.txt", "..%5c..%5cetc%5cpasswd", "bag/./real/file.txt", "bag//real/file.txt", "%c0%ae%c0%ae/x",
                                  "%252e%252e/x", "."])
def test_paths_that_climb(stack, bag, path):
    """download by paths with .., absolute, with NUL, with backslashes, encoded once and twice"""
    reply = download(stack, bag, path)
    assert reply.status in (400, 404) and not any(word in reply.body for word in STRANGE), reply


@stopped_by(BENEATH)
def test_file_that_becomes_a_link(stack, bag):
    """a file that becomes a link out and a file again all the time, while it is listed, packed and downloaded"""
    seen = set()
    for _ in range(150):
        reply = download(stack, bag, "bag/swap")
        seen.add((reply.status, reply.body if reply.status == 200 else b""))
    assert seen <= {(200, b"mine"), (200, b""), (404, b"")} and (404, b"") in seen, seen
    for _ in range(5):
        files = stack.get(f"/besser_api/simulation/sessions/{bag['session']}/files").json()["files"]
        assert {f["content"] for f in files if f["path"] in ("bag/swap", "bag/next")} <= {"mine", ""}


@stopped_by("no name is put into a header as it is")
def test_header_in_a_file_name(stack, bag):
    """a file name with line ends, for the header of the download"""
    path = urllib.parse.quote("bag/a\r\nX-Evil: 1")
    reply = download(stack, bag, path)
    assert "X-Evil" not in reply.headers
    assert reply.status in (400, 404) or "\n" not in reply.headers["Content-Disposition"]
    with socket.create_connection(("127.0.0.1", stack.port), 60) as s:
        s.sendall(f"GET /besser_api/simulation/sessions/{bag['session']}/files/{path} HTTP/1.0\r\n\r\n".encode())
        head = s.recv(65536).partition(b"\r\n\r\n")[0]
    assert b"\nX-Evil" not in head


@stopped_by("sent as a download of bytes, not to be guessed at, in a page without rights")
def test_page_as_a_file(stack, bag):
    """a file that is a page with a script, for the browser of whoever downloads it"""
    reply = download(stack, bag, urllib.parse.quote("bag/<img src=x onerror=alert(1)>.html"))
    assert reply.status == 200 and reply.headers["Content-Type"] == "application/octet-stream"
    assert reply.headers["Content-Disposition"].startswith("attachment") and reply.headers["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in reply.headers["Content-Security-Policy"]


@stopped_by(BENEATH)
def test_links_in_the_archive(archive):
    """links, for the archive to follow or to carry"""
    assert archive.read("bag/real/file.txt") == b"mine"
    assert not {"bag/passwd", "bag/hosts", "bag/top", "bag/up", "bag/self", "bag/proc", "bag/sibling"} & {n.rstrip("/") for n in archive.namelist()}
    for info in archive.infolist():
        assert (info.external_attr >> 16) & 0o170000 in (0, 0o100000, 0o040000), info
        assert not any(word in archive.read(info) for word in (b"root:", b"SIBLING_KEY", b"SECRET OF"))


@stopped_by("names in the archive are checked, and changed where they mean something on other systems")
def test_names_in_the_archive(archive):
    """names that unpack elsewhere: backslashes, drives, line ends, .."""
    for name in archive.namelist():
        assert not set(name) & {"\\", ":", "\r", "\n", "\0"} and not name.startswith("/") and ".." not in name.split("/"), name
    assert len(set(archive.namelist())) == len(archive.namelist())


@stopped_by("contents up to a size, the rest by name")
def test_sparse_file(listing):
    """a file that is large and takes no space, for the memory of the service"""
    files, _, body = listing
    assert "not shown" in files["bag/sparse"] and len(body) < 1 << 20


@stopped_by("a session is found by its owner only, with one answer for not there and not yours")
def test_session_of_another_owner(stack, attacker):
    """ask the public surface for a session of another owner"""
    base = f"/besser_api/simulation/sessions/{attacker['session']}"
    for method, path in (("GET", base), ("GET", base + "/files"), ("GET", base + "/files/agent.py"), ("GET", base + "/archive"), ("DELETE", base)):
        reply = stack.request(method, path)
        assert reply.status == 404 and b"facts.json" not in reply.body, (method, path, reply)
    assert stack.internal("GET", f"/sessions/{attacker['session']}/files").status == 200
