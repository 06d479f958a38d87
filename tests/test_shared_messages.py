"""Every message in the JSON of the commands over the logs that others wrote has a documented code."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from harness_uq.commands.main import main
from tests.message_page import CATALOGUES, PAGE

DOCUMENTED = {kind.code: kind.name for catalogue in CATALOGUES for kind in catalogue.types}
TRUNCATED = "lm_eval/gsm8k_two_models_truncated_samples"
COMMANDS = {
    "estimate": ["estimate", ""],
    "structure": ["structure", ""],
    "effects": ["effects", "inspect/popularity_5epochs_3models"],
    "rank": ["rank", ""],
    "report": ["report", "inspect"],
    "compare": ["compare", "inspect/popularity_100_two_models"],
    "compare truncated samples": ["compare", TRUNCATED],
    "compare a group": ["compare", "lm_eval/mmlu_pro_plus_group_two_models"],
    "gate": ["gate", TRUNCATED, "--baseline", TRUNCATED, "--margin", "0.02"],
    "gate --self-test": ["gate", "inspect/popularity_5epochs_3models", "--self-test", "--margin", "0.02"],
    "plan": ["plan", "inspect", "--width", "0.05"],
}

WITHOUT_MESSAGES = {"structure", "compare", "gate --self-test"}  # nothing to report about some of these logs


def messages_in(document: Any) -> Iterator[Mapping[str, Any]]:
    """All messages of a JSON document, wherever they stand."""
    if isinstance(document, dict):
        yield from document.get("messages") or ()
        yield from document.get("errors") or ()
    values = document.values() if isinstance(document, dict) else document if isinstance(document, list) else ()
    for value in values:
        yield from messages_in(value)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_messages_of_a_command_have_documented_codes(name: str, shared: Path, capsys: pytest.CaptureFixture[str]):
    command, *rest = COMMANDS[name]
    arguments = [
        str(shared / "data" / word) if word == "" or (shared / "data" / word).exists() else word for word in rest
    ]
    main([command, *arguments, "--format", "json"])
    output = capsys.readouterr().out
    messages = list(messages_in(json.loads(output, parse_constant=pytest.fail)))
    assert messages or name in WITHOUT_MESSAGES
    page = PAGE.read_text(encoding="utf-8")
    for message in messages:
        assert DOCUMENTED[message["code"]] == message["name"]
        assert f'<a id="{message["code"]}">' in page
        assert message["text"]
        assert message["severity"] in {"note", "warning", "refusal", "error"}
