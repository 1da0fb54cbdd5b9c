import pytest

from tests.compiler import harness


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
