"""A message is complete in itself, and its type checks its parameters."""

import pickle

import numpy as np
import pytest

from harness_uq.messages import (
    Message,
    MessageCatalogue,
    MessageRegistry,
    MessageType,
    join_messages,
    mark_ignored,
    with_severity,
)

FEW = MessageType("XX104", "warning", "Only {n:count thing}.", "Meaning.", "Action.", "few-things")
LISTED = MessageType("XX105", "note", "Names: {names:join}.", "Meaning.", "Action.", "listed")
REFUSED = MessageType("XX106", "refusal", "No.", "Meaning.", "Action.", "refused")


def made(template: str, **params: object) -> str:
    return MessageType("XX000", "note", template, "", "", "any")(**params).text


@pytest.mark.parametrize(
    ("template", "params", "text"),
    [
        ("{n:count question}", {"n": 1}, "1 question"),
        ("{n:count question}", {"n": 1319}, "1,319 questions"),
        ("{n:count question}", {"n": 0}, "0 questions"),
        ("{n:count class|classes}", {"n": 2}, "2 classes"),
        ("{n:count {unit}}", {"n": 2, "unit": "task"}, "2 tasks"),
        ("{n:plural has|have}", {"n": 1}, "has"),
        ("{n:plural has|have}", {"n": 2}, "have"),
        ("{names:join}", {"names": ("a", "b", "c")}, "a, b and c"),
        ("{names:join}", {"names": ["a"]}, "a"),
        ("{names:join or}", {"names": ("a", "b")}, "a or b"),
        ("{names:quote}", {"names": ("a", "b")}, "'a' and 'b'"),
        ("{p:percent}", {"p": 0.95}, "95 %"),
        ("{p:percent}", {"p": -0.001}, "0 %"),
        ("{p:percent.1}", {"p": 0.005}, "0.5 %"),
        ("{reason:sentence}", {"reason": "It is empty"}, "It is empty."),
        ("{reason:sentence}", {"reason": "It is empty."}, "It is empty."),
        ("{reason:clause}, so", {"reason": "It is empty."}, "It is empty, so"),
        ("{x:.2f} {name!r}", {"x": 0.123, "name": "a"}, "0.12 'a'"),
    ],
)
def test_templates_have_plurals_lists_and_percentages(template: str, params: dict[str, object], text: str):
    assert made(template, **params) == text


@pytest.mark.parametrize("params", [{}, {"m": 3}, {"n": 3, "m": 3}])
def test_a_missing_or_unexpected_parameter_is_an_error(params: dict[str, object]):
    with pytest.raises(TypeError, match="few-things"):
        FEW(**params)


def test_fields_of_a_specification_count_as_parameters():
    assert MessageType("XX000", "note", "{n:count {unit}}", "", "", "any").fields == {"n", "unit"}


def test_a_message_survives_pickling_and_json_without_its_type():
    message = LISTED(names=["a", "b"])
    assert pickle.loads(pickle.dumps(message)) == message
    assert Message.from_dict(message.to_dict()) == message
    assert len({message, LISTED(names=("a", "b"))}) == 1


def test_parameters_are_plain_values():
    params = FEW(n=np.int64(3)).params
    assert (type(params["n"]), params["n"]) == (int, 3)
    assert type(FEW(n=np.float64(3)).params["n"]) is float
    assert FEW(n=float("nan")).to_dict()["params"] == {"n": None}


def test_only_notes_and_warnings_can_be_ignored():
    messages = mark_ignored((FEW(n=1), LISTED(names=("a",)), REFUSED()), frozenset({"XX104", "listed", "refused"}))
    assert [message.is_ignored for message in messages] == [True, True, False]
    assert [message.to_dict().get("ignored") for message in messages] == [True, True, None]
    assert with_severity(messages, "note", "warning", "refusal") == (REFUSED(),)


def test_a_cell_of_a_table_has_code_name_and_text():
    assert join_messages([FEW(n=1), REFUSED()]) == "XX104 few-things: Only 1 thing.; XX106 refused: No."


@pytest.mark.parametrize(
    "types",
    [
        (FEW, FEW),
        (FEW, MessageType("XX104", "note", "", "", "", "other")),
        (FEW, MessageType("XX107", "note", "", "", "", "few-things")),
        (MessageType("YY104", "note", "", "", "", "other"),),
        (MessageType("XX1", "note", "", "", "", "other"),),
        (MessageType("XX104", "hint", "", "", "", "other"),),  # type: ignore[arg-type]
    ],
)
def test_a_catalogue_has_unique_codes_and_names(types: tuple[MessageType, ...]):
    with pytest.raises(ValueError, match=r"\w"):
        MessageCatalogue("XX", "Test", types)


def test_a_registry_finds_types_by_code_and_name():
    registry = MessageRegistry()
    registry.register(MessageCatalogue("XX", "Test", (FEW, LISTED)))
    registry.register(MessageCatalogue("XX", "Test", (FEW, LISTED)))
    assert [registry.find(label) for label in ("XX104", "xx104", "few-things", "none")] == [FEW, FEW, FEW, None]
    with pytest.raises(ValueError, match="XX"):
        registry.register(MessageCatalogue("XX", "Other", ()))
    with pytest.raises(ValueError, match="few-things"):
        registry.register(MessageCatalogue("YY", "Other", (MessageType("YY104", "note", "", "", "", "few-things"),)))
