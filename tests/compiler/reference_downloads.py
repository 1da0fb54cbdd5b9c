"""Runs under build/reference: makes downloads with the reference as its generate-output endpoint does. One line of JSON
in, {"request": JSON text, "out": directory}, one line out, each in a child as tests/support/forked.py says. The directory
gets what the archive holds."""

from __future__ import annotations

import asyncio
import importlib
import io
import json
import os
import zipfile

from deep_translator import GoogleTranslator
from fastapi import HTTPException

from tests.support import forked

BACKEND = "besser.utilities.web_modeling_editor.backend"
importlib.import_module(f"{BACKEND}.services")  # first: the router alone is a circular import
generation_router = importlib.import_module(f"{BACKEND}.routers.generation_router")


async def download(request):
    response = await generation_router._handle_agent_generation(request)
    return b"".join([chunk if isinstance(chunk, bytes) else chunk.encode() async for chunk in response.body_iterator])


def answer(line):
    question = json.loads(line)
    try:
        request = json.loads(question["request"])
        os.makedirs(question["out"], exist_ok=True)
        os.chdir(question["out"])
        body = asyncio.run(download({"config": None, **request}))
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            archive.extractall(question["out"])
            return {"ok": True, "files": archive.namelist()}
    except HTTPException as error:
        return {"error": error.status_code, "message": str(error.detail)}
    except BaseException as error:
        return {"error": type(error).__name__, "message": str(error)}


def main():
    forked.cut_off()
    GoogleTranslator.translate = forked.refuse
    forked.serve(answer, 20)


if __name__ == "__main__":
    main()
