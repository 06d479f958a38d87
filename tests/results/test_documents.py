"""What `--format json` prints is what the published schemas say, without a field that they do not know."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from harness_uq.commands.main import main
from harness_uq.results.documents import documents
from harness_uq.results.history import Snapshot
from tests import schemas

jsonschema = pytest.importorskip("jsonschema")

Print = Callable[..., object]


def errors(name: str, document: object) -> list[str]:
    """What the schema says against the document, taking it to name every field."""
    schema = json.loads((schemas.FOLDER / f"{name}-v1.json").read_text(encoding="utf-8"))
    for definition in schema.get("$defs", {}).values():
        if "properties" in definition:
            definition["additionalProperties"] = False
    found = jsonschema.Draft202012Validator(schema).iter_errors(document)
    return [f"{error.json_path}: {error.message}" for error in found]


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Print:
    """`printed(*arguments)` is the document that the command prints."""

    def run(*arguments: str | Path) -> object:
        main([*map(str, arguments), "--format", "json"])
        return json.loads(capsys.readouterr().out)

    return run


def test_the_published_schemas_are_what_the_types_say() -> None:
    published = {path.name: path.read_text(encoding="utf-8") for path in schemas.FOLDER.glob("*.json")}
    assert published == schemas.schemas(), "run: python -m tests.schemas"


def test_every_published_schema_is_one() -> None:
    for path in schemas.FOLDER.glob("*.json"):
        jsonschema.Draft202012Validator.check_schema(json.loads(path.read_text(encoding="utf-8")))


def test_every_table_of_the_page_describes_fields_that_there_are() -> None:
    for phrase, definition in schemas.TABLES.items():
        (fields,) = {
            frozenset(found["$defs"][definition]["properties"])
            for found in map(json.loads, schemas.schemas().values())
            if definition in found.get("$defs", {})
        }
        described = {field for field, _ in schemas.meanings(phrase)}
        assert fields <= described, definition


def test_a_field_that_the_schema_does_not_know_is_found() -> None:
    document = {"schema": 1, "overall": None, "estimates": [], "errors": []}
    assert errors("estimate", document) == []
    assert errors("estimate", document | {"more": 1}) != []
    assert errors("estimate", document | {"schema": 2}) != []


@pytest.mark.harness
@pytest.mark.parametrize("command", ["estimate", "structure", "report"])
def test_documents_of_both_harnesses_are_valid(
    command: str, printed: Print, lm_eval_runs: Path, inspect_runs: Path
) -> None:
    assert errors(command, printed(command, lm_eval_runs / "lm-eval", inspect_runs / "inspect")) == []


@pytest.mark.harness
@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("compare", ()),
        ("compare", ("--uq", "t")),
        ("compare", ("--disagreements", "3")),
        ("rank", ()),
        ("plan", ("--difference", "0.05", "--cost-per-question", "4")),
        ("estimate", ("--estimand", "pass@4")),
        ("estimate", ("--uq", "wilson")),
    ],
)
def test_documents_of_two_systems_are_valid(
    command: str, options: tuple[str, ...], printed: Print, lm_eval_runs: Path
) -> None:
    assert errors(command, printed(command, lm_eval_runs / "lm-eval", *options)) == []


@pytest.mark.harness
def test_a_gate_and_its_self_test_are_valid(printed: Print, lm_eval_runs: Path) -> None:
    small, large = (lm_eval_runs / "lm-eval" / f"scripted-{name}" for name in ("small", "large"))
    decided = printed("gate", small, "--baseline", large, "--margin", "0.05")
    assert decided["gates"]
    assert errors("gate", decided) == []
    tested = printed(
        "gate", large, "--self-test", "--margin", "0.1", "--n-simulations", "20", "--task", "demo_passages"
    )
    assert tested["self_tests"]
    assert errors("gate", tested) == []


@pytest.mark.harness
def test_a_subset_and_its_probabilities_are_valid(lm_eval_runs: Path, tmp_path: Path) -> None:
    output = tmp_path / "ids.json"
    history = lm_eval_runs / "lm-eval"
    main(["subset", "demo_passages", "--reference-runs", str(history), "--n", "20", "--ids", str(output)])
    assert errors("subset", json.loads(output.read_text())) == []
    assert errors("subset-drawn", json.loads((tmp_path / "ids.drawn.json").read_text())) == []


def test_crossed_effects_are_valid(printed: Print, shared: Path) -> None:
    runs = shared / "data" / "lm_eval" / "negotiationtom_group_clusters"
    document = printed("effects", runs)
    assert document["effects"]
    assert errors("effects", document) == []


def test_a_look_is_valid_with_an_interval_and_without() -> None:
    look = Snapshot("model", "task", "acc", "none", 3, 3, 10, 0.5, 0.1, 0.9, 0.95)
    assert errors("watch", look.to_dict()) == []
    assert errors("watch", {**look.to_dict(), "value": None, "low": None, "high": None}) == []


def test_errors_are_valid(printed: Print, tmp_path: Path) -> None:
    broken = tmp_path / "results_1.json"
    broken.write_text("{")
    document = printed("estimate", broken)
    assert document["errors"]
    assert errors("estimate", document) == []


def test_every_command_that_prints_json_has_a_schema() -> None:
    commands = {
        path.stem
        for path in (schemas.ROOT / "harness_uq" / "commands").glob("*.py")
        if "_emit.emitting(" in path.read_text(encoding="utf-8")
    }
    assert len(commands) == 10
    assert commands <= {*documents()}
