"""Make the pictures of README and docs: `python docs/pictures.py`, or `python docs/pictures.py report.png layers.svg`.

Each is drawn by a command of `COMMANDS`. One that looks different on each machine, or on each day, carries a hash of
what it was drawn from, by which `tests/docs/test_pictures.py` tells whether it is still true.
"""

import hashlib
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
COMMANDS = {
    "before-after.svg": [str(ROOT / "docs" / "draw_before_after.py"), str(IMAGES / "before-after.svg")],
    "coverage.svg": ["-m", "benchmarks.calibration", "--readme-figure", str(IMAGES / "coverage.svg")],
    "comparison.png": [str(ROOT / "docs" / "draw_comparison.py"), str(IMAGES / "comparison.png")],
    "gallery": [str(ROOT / "docs" / "draw_gallery.py"), str(IMAGES / "gallery")],
    "plots": [str(ROOT / "docs" / "draw_plots.py"), str(IMAGES / "plots")],
    "layers.svg": [str(ROOT / "docs" / "draw_layers.py"), str(IMAGES / "layers.svg")],
    "inspect-view.png": [str(ROOT / "docs" / "draw_viewer.py"), str(IMAGES / "inspect-view.png")],
    "report.png": [str(ROOT / "docs" / "draw_report.py"), str(IMAGES / "report.png")],
}


def hash_of(*texts: str) -> str:
    """What the texts are known by."""
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:32]


def stamp(picture: Path, source: str) -> None:
    """Write the hash of what a PNG was drawn from into it."""
    from PIL import Image, PngImagePlugin

    carried = PngImagePlugin.PngInfo()
    carried.add_text("Source", source)
    with Image.open(picture) as drawn:
        drawn.load()
        drawn.save(picture, pnginfo=carried, optimize=True)


def stamped(picture: Path) -> str:
    """The hash that a PNG or an SVG carries; empty where it carries none."""
    if picture.suffix == ".png":
        from PIL import Image

        with Image.open(picture) as drawn:
            return str(drawn.info.get("Source", ""))
    found = re.search(r"<dc:source>\s*([0-9a-f]{32})\s*</dc:source>", picture.read_text(encoding="utf-8"))
    return found[1] if found else ""


def main(names: list[str]) -> None:
    """Draw the pictures with these names, or all of them if there are none."""
    for name in names or COMMANDS:
        print(name)
        subprocess.run([sys.executable, *COMMANDS[name]], check=True, cwd=ROOT)


if __name__ == "__main__":
    main(sys.argv[1:])
