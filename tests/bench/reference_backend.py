"""The reference's public service as it is, and one route more: `POST /bench/owned/ID` makes the caller the owner of a session
that was started on the simulator itself. The public service can start only drawn agents, whose framework needs 165 MiB
each; so its relay can be measured with the same light agent as everybody's. Runs under build/backend."""
import time

from besser.utilities.web_modeling_editor.backend.backend import app  # noqa: F401: what uvicorn serves
from besser.utilities.web_modeling_editor.backend.routers import agent_simulator_router as routes
from fastapi import Request


@app.post("/bench/owned/{session_id}")
def owned(session_id: str, request: Request):
    routes._session_registry._sessions[session_id] = (routes._authenticate("", request.client), time.time())
    return {}
