import json

import pytest

from tests.compiler import harness


class Reference(harness.Lines):
    """The reference's metamodel, converter and importer in one process; each question in a child of it."""

    def __init__(self):
        super().__init__(harness.REFERENCE_PYTHON, "-m", "tests.buml.reference_worker")

    def run(self, text, folder):
        """What the file makes when it is executed: {"agents": {variable: agent}, "settings": [...]}."""
        return self.about("run", text, folder)

    def about(self, what, text, folder):
        path = folder / "exported.py"
        path.write_text(text, encoding="utf-8")
        answer = self.ask(json.dumps({"do": what, "path": str(path)}))
        assert "error" not in answer, f"{answer}\n{text}"
        return answer

    def convert(self, request):
        """The reference's own model of a diagram, or {"error": ...}."""
        return self.ask(json.dumps({"do": "convert", "request": harness.to_json(request)}))


@pytest.fixture(scope="session")
def reference():
    harness.install_reference()
    running = Reference()
    yield running
    running.close()
