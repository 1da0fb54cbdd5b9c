"""Requests as fast as a service answers them, by wrk."""
from __future__ import annotations

import dataclasses
import json
import pathlib
import shutil
import subprocess
import tempfile

from tests.bench.machine import Cost

SCRIPT = pathlib.Path(__file__).with_name("report.lua")


@dataclasses.dataclass
class Load:
    rate: float  # answers with 200 a second
    p50: float  # ms
    p99: float
    per_core: float  # requests for each second that the service computed
    lost: int  # connections refused, cut, timed out
    other: dict  # answers with another status
    busy: float  # the whole machine, client included


def begin(url, method="GET", body=None, token=None, seconds=4, clients=8):
    """wrk as a process, and the folder of its body."""
    if not shutil.which("wrk"):
        raise SystemExit("wrk is missing: docker/install/packages.sh bench")
    folder = tempfile.TemporaryDirectory()
    path = ""
    if body is not None:
        path = pathlib.Path(folder.name) / "body.json"
        path.write_bytes(body if isinstance(body, bytes) else json.dumps(body).encode())
    command = ["wrk", "-t1", f"-c{clients}", f"-d{seconds}s", "--timeout", "30s", "-s", SCRIPT, url, "--", method, path]
    return subprocess.Popen([*command, token] if token else command, stdout=subprocess.PIPE, encoding="utf-8"), folder


def end(process, folder):
    out, _ = process.communicate()
    folder.cleanup()
    assert process.returncode == 0, out
    answer = json.loads(out[out.rindex("\n{") :])
    other = {}
    for counts in answer["other"]:
        for status, count in counts.items():
            other[status] = other.get(status, 0) + count
    return answer, other


def run(roots, url, **how):
    """`roots`: processes of the service, whose trees' computing time is counted."""
    with Cost(*roots) as cost:
        process, folder = begin(url, **how)
        answer, other = end(process, folder)
    good = answer["requests"] - sum(other.values())
    return Load(good / answer["seconds"], answer["p50"], answer["p99"], answer["requests"] / cost.cpu if cost.cpu else 0,
                answer["lost"], other, cost.others)
