import pytest

from tests.compiler import harness, talks


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
