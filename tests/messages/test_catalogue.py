"""Every template of the catalogues renders to plain sentences, and the page of messages is current."""

import re
import string

import pytest

from harness_uq.messages import MessageType
from tests.message_page import CATALOGUES, EXAMPLES, PAGE, TOPICS, example, page, types

TYPES = types()
_NUMERIC = re.compile(r"percent|\+?[,.]?\d*[dfg]$|,")


def filled_in(kind: MessageType, n: int) -> str:
    """The template with a value for each parameter; what is counted is `n`, other numbers are 3."""
    return kind(**dict(sorted(_values(kind.template, n), key=lambda item: item[1] == n))).text


def _values(template: str, n: int):
    for _, name, specification, _ in string.Formatter().parse(template):
        if not name:
            continue
        if specification.startswith(("join", "quote")):
            yield name, ("first", "second")[: max(n, 1)]
        elif specification.startswith(("count", "plural")):
            yield name, n
        else:
            yield name, 3 if name.startswith("n_") or _NUMERIC.match(specification) else "Example"
        yield from _values(specification, n)


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.code)
@pytest.mark.parametrize("n", [1, 2, 1319])
def test_templates_are_sentences_with_correct_plurals(kind: MessageType, n: int):
    text = filled_in(kind, n)
    assert text.endswith((".", "?")), text
    assert "  " not in text
    assert not re.search(r"[{}]|None(?! of)|-0 %|\.\.$|\.\.[^.]", text), text
    assert set(re.findall(r"(?<!-)\b1 (\w+s)\b", text)) <= {
        "has",
        "is",
        "was",
        "does",
        "class",
        "repeats",
        "refers",
        "contains",
        "differs",
        "excludes",
    }, text


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.code)
def test_a_message_has_at_most_two_sentences_of_its_own_and_is_documented(kind: MessageType):
    text = re.sub(r"\{[^{}]*:sentence\}", "", kind.template)
    text = re.sub(r"et al\.|\.eval|\.\d|Available columns: .*", "", text)
    assert len(re.findall(r"[.?](?=\s|$)", text)) <= 2, text
    for sentence in (kind.meaning, kind.action):
        assert sentence.endswith((".", ".)")), sentence
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", kind.name)


def test_codes_are_in_order_and_belong_to_a_topic():
    for catalogue in CATALOGUES:
        codes = [kind.code for kind in catalogue.types]
        assert codes == sorted(codes)
        assert all(any(code.startswith(prefix) for prefix in TOPICS) for code in codes)


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.code)
def test_a_message_has_an_example(kind: MessageType):
    message = example(kind)
    own = EXAMPLES["codes"].get(kind.code, {})
    assert own.keys() <= message.params.keys() | {"at"}, "the example has a parameter that the message does not have"
    assert message.code == kind.code
    assert len(message.text) < 500


def test_examples_belong_to_messages():
    assert EXAMPLES["codes"].keys() <= {kind.code for kind in TYPES}
    assert EXAMPLES["defaults"].keys() <= {name for kind in TYPES for name in kind.fields}


def test_the_page_is_current():
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tests.message_page"


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.code)
def test_an_entry_says_what_to_do_on_one_line(kind: MessageType):
    entry = PAGE.read_text(encoding="utf-8").partition(f'<a id="{kind.code}"></a>')[2].partition("<a id=")[0]
    assert entry.count("What to do") == 1
    assert f"\n\n**What to do:** {kind.action}\n" in entry
    assert "\n" not in kind.action
