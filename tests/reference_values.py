"""Numbers that others computed: `tests/reference`, whose README names their origin."""

import json
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "reference"


def reference_values(name: str) -> dict:
    """The values in a file of `tests/reference`."""
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))
