"""python -m tests.bench [PART...]: figures of private services on this machine. Nothing here passes or fails."""
from __future__ import annotations

import importlib
import sys
import time

from tests.bench.machine import describe

PARTS = {
    "compile": "POST validate and the compilers, beside the reference",
    "sessions": "start, end and memory of sessions, beside the reference",
    "relay": "round trips and throughput, beside a direct connection and the reference's two relays",
    "ends": "how soon browsers hear of an end, and are back after a cut",
    "sockets": "10 000 idle sockets; the relay while POST validate is under full load",
    "escapes": "the attempts of tests/security against the reference",
    "load": "500 mixed clients for a minute; GET limits and GET files beside the reference",
}


def main():
    parts = sys.argv[1:] or list(PARTS)
    for part in parts:
        if part not in PARTS:
            sys.exit("there is no part " + part + "; parts:\n" + "\n".join(f"  {name:9} {what}" for name, what in PARTS.items()))
    print(f"agentsim bench, {time.strftime('%Y-%m-%d %H:%M')}; {describe()}")
    for part in parts:
        began = time.monotonic()
        print(f"\n== {part}: {PARTS[part]}")
        importlib.import_module(f"tests.bench.{part}").main()
        print(f"\n  ({part}: {time.monotonic() - began:.0f} s)")


if __name__ == "__main__":
    main()
