"""The compiler alone, by the size of the diagram, beside the reference's generator: python -m tests.bench.compile [ROUNDS]

Computing time of one process that reads, checks and generates: for `agentsim validate` without what it needs for the
smallest diagram (its start and that of the syntax checker), for the reference in a running process. Nothing here passes
or fails; that the time grows with the size and not faster is to be seen in the column per state.
"""

from __future__ import annotations

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

SIZES = (100, 1000, 5000)
REFERENCE_SIZES = (100, 1000)  # the largest would take it minutes


def reference_seconds(paths):
    """Runs under build/reference."""
    from besser.generators.agents.baf_generator import BAFGenerator, GenerationMode
    from besser.utilities.web_modeling_editor.backend.services.converters import process_agent_diagram
    from deep_translator import GoogleTranslator

    def refuse(*_args, **_kwargs):
        raise OSError("no network")

    GoogleTranslator.translate = refuse
    for path in paths:
        request = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        config = request.get("config") or {}
        with tempfile.TemporaryDirectory() as scratch:
            start = time.process_time()
            agent = process_agent_diagram({**request, "config": config})
            BAFGenerator(
                agent, output_dir=scratch, config=config, generation_mode=GenerationMode.CODE_ONLY, test_mode=True
            ).generate()
            print(json.dumps({path: time.process_time() - start}), file=sys.stderr)


def own_seconds(harness, text, rounds):
    """Median computing time of `agentsim validate`, with its child."""
    runs = [harness.measured("validate", "--quiet", "-", text=text, timeout=300) for _ in range(rounds)]
    assert all(run.status == 0 for run in runs), runs[0].said
    return statistics.median(run.seconds for run in runs), max(run.megabytes for run in runs)


def ask_reference(harness, folder, diagrams):
    paths = []
    for states in REFERENCE_SIZES:
        paths.append(folder / f"{states}.json")
        paths[-1].write_text(diagrams[states], encoding="utf-8")
    done = subprocess.run(
        [harness.REFERENCE_PYTHON, "-m", "tests.bench.compile", "--reference", *map(str, paths)],
        check=True,
        cwd=harness.ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    answers = {}
    for line in done.stderr.splitlines():
        if line.startswith('{"'):
            answers.update(json.loads(line))
    return {states: answers[str(path)] for states, path in zip(REFERENCE_SIZES, paths)}


def main(rounds):
    from tests.compiler import harness
    from tests.support import random_diagram

    harness.install_reference()
    diagrams = {states: json.dumps(random_diagram.build(7, states=(states, states), legacy=0)) for states in SIZES}
    start, _ = own_seconds(harness, json.dumps(harness.fixture("hello_minimal")), rounds)
    with tempfile.TemporaryDirectory() as folder:
        reference = ask_reference(harness, pathlib.Path(folder), diagrams)
    print(f"start of agentsim and of the syntax checker: {start * 1000:.1f} ms")
    print(
        f"{'states':>7} {'KB of JSON':>11} {'ms':>9} {'µs a state':>11} {'MB':>6} {'reference ms':>13} {'times':>6}"
    )
    for states, text in diagrams.items():
        seconds, megabytes = own_seconds(harness, text, rounds)
        seconds = max(seconds - start, 1e-6)
        other = reference.get(states)
        beside = f"{other * 1000:13.0f} {other / seconds:6.0f}" if other else ""
        print(
            f"{states:7} {len(text) / 1000:11.0f} {seconds * 1000:9.1f} {seconds / states * 1e6:11.1f} {megabytes:6.0f} {beside}"
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--reference"]:
        reference_seconds(sys.argv[2:])
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
