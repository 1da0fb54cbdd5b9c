"""Readable tables on standard output; progress on standard error."""
from __future__ import annotations

import sys


def percentile(values, part):
    """The value below which `part` (0 to 1) of the values are; None of none."""
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * part))] if values else None


def shown(value):
    """A figure with three digits that matter, thin spaces left out; text stays as it is."""
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    if isinstance(value, int) or abs(value) >= 100:
        return f"{value:,.0f}".replace(",", " ")
    if value == 0:
        return "0"
    return f"{value:.3g}" if abs(value) >= 0.001 else f"{value:.1e}"


def ratio(one, other):
    """How often `other` fits into `one`, or a dash."""
    return f"{one / other:.3g} x" if one and other else "-"


def show(title, heads, rows, notes=(), left=(0,)):
    """`left`: columns of words."""
    cells = [heads] + [[shown(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(heads))]
    print(f"\n{title}")
    for number, row in enumerate(cells):
        print("  " + "  ".join(c.ljust(w) if i in left else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths))).rstrip())
        if number == 0:
            print("  " + "  ".join("-" * w for w in widths))
    for note in notes:
        print(f"  {note}")
    sys.stdout.flush()


def progress(text):
    print(f"  .. {text}", file=sys.stderr, flush=True)
