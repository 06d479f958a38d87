"""Stand-ins hold the measurements of the logs they stand for, and none of their phrases."""

import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness_uq import Estimate, estimate
from tests.conftest import STANDINS, originals
from tests.data.make_standins import made, made_files

PHRASE = 3  # words of three letters or more, one after another
AT_HOME = re.compile(r"/(?:home|Users)/([^/\s\"']+)")
MEMBER = {".eval", ".zip"}


@pytest.fixture(scope="module")
def real() -> Path:
    return originals() / "data"


@pytest.fixture(scope="module")
def texts_of_the_logs(real: Path) -> set[str]:
    """Of the folders that have stand-ins."""
    with zipfile.ZipFile(STANDINS) as archive:
        folders = {name.partition("/")[0] for name in archive.namelist()}
    return {
        text
        for folder in folders
        for path in (real / folder).rglob("*")
        if path.suffix != ".md" and path.is_file()
        for text in texts(path.read_bytes(), path.suffix)
    }


@pytest.fixture(scope="module")
def texts_of_the_standins() -> set[str]:
    return set(texts(STANDINS.read_bytes(), ".zip"))


def texts(content: bytes, kind: str) -> Iterator[str]:
    """Every string in a log, keys too; a table of scores holds names of systems alone."""
    if kind in MEMBER:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for name in archive.namelist():
                yield from texts(archive.read(name), Path(name).suffix)
    elif kind in (".json", ".jsonl"):
        for line in content.decode().splitlines() if kind == ".jsonl" else [content.decode()]:
            if line.strip():
                yield from strings(json.loads(line))


def strings(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    for item in value if isinstance(value, list) else ():
        yield from strings(item)
    if isinstance(value, str):
        yield value


def phrases(found: set[str]) -> set[tuple[str, ...]]:
    runs = (zip(*(text.lower().split()[i:] for i in range(PHRASE)), strict=False) for text in found)
    return {run for text in runs for run in text if all(re.search(r"[^\W\d_]{3}", word) for word in run)}


@pytest.mark.slow
def test_no_phrase_of_the_logs_is_in_the_standins(texts_of_the_logs: set[str], texts_of_the_standins: set[str]) -> None:
    theirs = phrases(texts_of_the_logs)
    assert len(theirs) > 10_000
    assert phrases(texts_of_the_standins) & theirs == set()


def test_no_user_of_a_machine_is_named(texts_of_the_logs: set[str], texts_of_the_standins: set[str]) -> None:
    users = {user for text in texts_of_the_logs for user in AT_HOME.findall(text)}
    assert users
    assert not [text for text in texts_of_the_standins if any(user in text for user in users)]
    assert {user for text in texts_of_the_standins for user in AT_HOME.findall(text)} == {"somebody"}


@pytest.mark.slow
def test_the_standins_are_those_that_the_script_makes(real: Path) -> None:
    with zipfile.ZipFile(STANDINS) as archive:
        for name, content in made_files(real):
            kept = archive.read(name)
            assert list(texts(kept, Path(name).suffix)) == list(texts(content, Path(name).suffix)), name


@pytest.mark.slow
def test_every_estimate_is_that_of_the_logs(real: Path, tmp_path: Path) -> None:
    """All that is estimated, selected, warned of and noted, to the last digit."""
    with zipfile.ZipFile(STANDINS) as archive:
        archive.extractall(tmp_path / "data")
    theirs, ours = (
        [_said(row, folder) for harness in ("inspect", "lm_eval") for row in estimate(folder / harness)]
        for folder in (real, tmp_path / "data")
    )
    assert len(theirs) > 80
    assert ours == theirs


def _said(row: Estimate, folder: Path) -> str:
    return json.dumps(row.to_dict()).replace(str(folder), "")


def test_they_take_less_than_two_megabytes() -> None:
    assert STANDINS.stat().st_size < 2e6


@pytest.mark.parametrize(
    ("check", "value"),
    [
        (lambda one, other: one == other, ["The same text.", "The same text."]),
        (
            lambda one, other: one.split(". ")[0] == other.split(". ")[0],
            ["A long passage. First?", "A long passage. Second?"],
        ),
        (lambda one, other: one != other, ["The same text.", "Another text."]),
        (lambda one, other: len(one) == len(other), ["Twenty-two years, Mary.", "Fifty-eight doors, Tim."]),
    ],
)
def test_texts_keep_what_they_share_and_their_lengths(check: Callable[[str, str], bool], value: list[str]) -> None:
    assert check(*made(value))
    assert not set(" ".join(value).split()) & set(" ".join(made(value)).split()) - {"A"}


@pytest.mark.parametrize("kept", [3, 0.5, None, True, "acc", "none", "C", "2025-01-01T00:00:00+00:00", "openai/gpt-5"])
def test_measurements_and_names_stay(kept: object) -> None:
    assert made({"key of some words": [kept]}) == {"key of some words": [kept]}


def test_places_lose_their_users() -> None:
    config = "/home/jane/project/tasks/belief.yaml"
    assert re.fullmatch(r"/home/somebody/[0-9a-f]{8}\.yaml", made(config))
    assert re.fullmatch(r"https://example\.org/[0-9a-f]{8}", made("https://jane.example.com/a"))
