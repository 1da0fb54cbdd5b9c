import pytest

from tests.compiler import harness, talks
from tests.compiler.tricky import shown
from tests.support.draw import Diagram


@pytest.fixture(scope="session")
def reference_environment():
    harness.install_reference()


@pytest.fixture(scope="session")
def dumper(reference_environment):
    running = harness.Dumper()
    yield running
    running.close()


@pytest.fixture(scope="session")
def reference(reference_environment):
    running = harness.Reference()
    yield running
    running.close()


@pytest.fixture(scope="session")
def model():
    running = talks.Model()
    yield running
    running.close()


@pytest.fixture(scope="session")
def theirs(model, reference_environment):
    running = talks.Talker(model, mended=True)
    yield running
    running.close()


@pytest.fixture(scope="session")
def ours(model):
    running = talks.Talker(model)
    yield running
    running.close()


@pytest.fixture
def talk(ours, tmp_path):
    """talk(diagram, steps ..., request members=...): the conversation. A step may be the text to say."""

    def hold(diagram, *steps, ends=None, download=False, **more):
        folder = tmp_path / "agent"
        folder.mkdir()
        request = diagram.request(**more) if isinstance(diagram, Diagram) else {**diagram, **more}
        mode = () if download else ("--session",)
        run = harness.agentsim("generate", *mode, "--quiet", "--output", folder, "-", request=request)
        assert run.status == harness.OK, run.said
        answer = ours.hold(folder, [talks.say(step) if isinstance(step, str) else step for step in steps])
        hold.said, hold.warned = answer["said"], run.said
        assert answer["end"] == ends, f"{answer['end']}\n{answer['said']}"
        return [[shown(event) for event in step] for step in answer["steps"]]

    return hold
