"""compile: POST validate through nginx beside the reference's backend, and the compilers alone."""
from __future__ import annotations

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from tests.bench import diagrams, http_load
from tests.bench.service import UNLIMITED, pids_of
from tests.bench.table import progress, ratio, show

VALIDATE = "/besser_api/simulation/validate"
SIZES = (100, 1000, 5000)
REFERENCE_SIZES = (20, 100, 200)  # larger ones take it minutes


def requests():
    return [("small, 2 states", diagrams.small()), ("20 states", diagrams.chain(20)), ("200 states", diagrams.chain(200))]


# ---- services -------------------------------------------------------------------------------------------------------

def services():
    from tests.bench.reference import Reference
    from tests.support.stack import Stack

    rows = []
    with Stack(AGENT_SIMULATOR_WORKERS="4", **UNLIMITED) as here, Reference(simulator=False) as there:
        for name, request in requests():
            body = json.dumps(request).encode()
            assert here.post(VALIDATE, request).json()["valid"] is True
            assert there.request("POST", VALIDATE, request).json()["valid"] is True
            progress(f"POST validate, {name}")
            loads = [(here, 4, 8), (there, 6, 2)]
            ours, theirs = (
                http_load.run(pids_of(service), f"http://127.0.0.1:{service.port}{VALIDATE}", method="POST", body=body, seconds=seconds, clients=clients)
                for service, seconds, clients in loads
            )
            for load in (ours, theirs):
                assert not load.lost and not load.other, load
            rows.append([name, len(body) / 1000, ours.rate, ours.p50, ours.p99, ours.per_core, theirs.rate, theirs.p50, theirs.p99,
                         theirs.per_core, ratio(ours.per_core, theirs.per_core)])
    show("POST validate (8 clients here, 2 there: it computes one request at a time)",
         ["diagram", "kB", "/s", "p50 ms", "p99 ms", "/core-s", "ref /s", "p50 ms", "p99 ms", "/core-s", "ratio"], rows,
         ["/core-s: requests for each second of computing by nginx, workers, parser jails, supervisor together, without the client's"])


# ---- compilers ------------------------------------------------------------------------------------------------------

def reference_seconds(paths):
    """Runs under build/reference: a line of JSON for each diagram, on standard error."""
    from besser.generators.agents.baf_generator import BAFGenerator, GenerationMode
    from besser.utilities.web_modeling_editor.backend.services.converters import process_agent_diagram

    for path in paths:
        request = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        times = []
        for _ in range(3):
            with tempfile.TemporaryDirectory() as scratch:
                start = time.process_time()
                agent = process_agent_diagram({**request, "config": {}})
                BAFGenerator(agent, output_dir=scratch, config={}, generation_mode=GenerationMode.CODE_ONLY, test_mode=True).generate()
                times.append(time.process_time() - start)
        print(json.dumps({path: statistics.median(times)}), file=sys.stderr)


def ask_reference(harness, folder, texts):
    paths = {}
    for states in REFERENCE_SIZES:
        paths[states] = str(folder / f"{states}.json")
        pathlib.Path(paths[states]).write_text(texts[states], encoding="utf-8")
    done = subprocess.run([harness.REFERENCE_PYTHON, "-m", "tests.bench.compile", *paths.values()], check=True, cwd=harness.ROOT,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8")
    answers = {}
    for line in done.stderr.splitlines():
        if line.startswith('{"'):
            answers.update(json.loads(line))
    return {states: answers[path] for states, path in paths.items()}


def compilers(rounds=5):
    """Computing time to read, check and generate: for `agentsim validate` (with its syntax checker) without what it needs
    for the smallest diagram, which is its start; for the reference inside a running process."""
    from tests.compiler import harness

    def own(text):
        runs = [harness.measured("validate", "--quiet", "-", text=text, timeout=300) for _ in range(rounds)]
        assert all(run.status == 0 for run in runs), runs[0].said
        return statistics.median(run.seconds for run in runs), max(run.megabytes for run in runs)

    harness.install_reference()
    texts = {states: json.dumps(diagrams.chain(states)) for states in sorted({*SIZES, *REFERENCE_SIZES})}
    start, _ = own(json.dumps(diagrams.small()))
    progress("the compilers alone")
    with tempfile.TemporaryDirectory() as folder:
        reference = ask_reference(harness, pathlib.Path(folder), texts)
    rows = []
    for states, text in texts.items():
        seconds, megabytes = own(text)
        seconds = max(seconds - start, 1e-6)
        other = reference.get(states)
        rows.append([states, len(text) / 1000, seconds * 1000, seconds / states * 1000, megabytes, other and other * 1000, other and other / states * 1000,
                     ratio(other, seconds)])
    show("The compilers alone, computing time", ["states", "kB", "ms", "ms a state", "MB", "ref ms", "ref ms a state", "ratio"], rows,
         [f"start of agentsim and its syntax checker, taken off: {start * 1000:.1f} ms"])


def main():
    services()
    compilers()


if __name__ == "__main__":
    reference_seconds(sys.argv[1:])
