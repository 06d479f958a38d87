"""Every template of the catalogues renders to plain sentences, and the page of messages is current."""

import re
import string

from harness_uq.messages import MessageType
from harness_uq.messages.examples import example, read_examples
from tests.message_page import CATALOGUES, PAGE, TOPICS, page, types

TYPES = types()
_NUMERIC = re.compile(r"percent|\+?[,.]?\d*[dfg]$|,")
# what ends in s after the number 1 and is not a plural
SINGULAR = {"has", "is", "was", "does", "class", "repeats", "refers", "contains", "differs", "excludes"}


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


def test_templates_are_sentences_with_correct_plurals():
    texts = [filled_in(kind, n) for kind in TYPES for n in (1, 2, 1319)]
    assert [text for text in texts if not text.endswith((".", "?"))] == []
    assert [text for text in texts if re.search(r"[{}]|  |None(?! of)|-0 %|\.\.$|\.\.[^.]", text)] == []
    assert [text for text in texts if set(re.findall(r"(?<!-)\b1 (\w+s)\b", text)) - SINGULAR] == []


def n_sentences(kind: MessageType) -> int:
    """Number of sentences of the template, without those that a parameter brings."""
    text = re.sub(r"\{[^{}]*:sentence\}", "", kind.template)
    text = re.sub(r"et al\.|\.eval|\.\d|Available columns: .*", "", text)
    return len(re.findall(r"[.?](?=\s|$)", text))


def test_messages_have_at_most_two_sentences_of_their_own_and_are_documented():
    assert [kind.template for kind in TYPES if n_sentences(kind) > 2] == []
    sentences = [sentence for kind in TYPES for sentence in (kind.meaning, kind.action)]
    assert [sentence for sentence in sentences if not sentence.endswith((".", ".)"))] == []
    assert [kind.name for kind in TYPES if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", kind.name)] == []


def test_codes_are_in_order_and_belong_to_a_topic():
    for catalogue in CATALOGUES:
        codes = [kind.code for kind in catalogue.types]
        assert codes == sorted(codes)
        assert all(any(code.startswith(prefix) for prefix in TOPICS) for code in codes)


def test_every_message_has_a_short_example():
    texts = {kind.code: example(kind).text for kind in TYPES}
    assert {code: text for code, text in texts.items() if len(text) >= 500} == {}


def test_examples_belong_to_messages_and_their_parameters():
    parameters = {kind.code: kind.fields | {"at"} for kind in TYPES}
    unknown = {code: own.keys() - parameters.get(code, set()) for code, own in read_examples()["codes"].items()}
    assert {code: names for code, names in unknown.items() if names} == {}
    assert read_examples()["codes"].keys() <= {kind.code for kind in TYPES}
    assert read_examples()["defaults"].keys() <= {name for kind in TYPES for name in kind.fields}


def test_the_page_is_current():
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tests.message_page"


def test_every_entry_says_once_what_to_do_on_one_line():
    _, *entries = re.split(r'<a id="([A-Z]+\d+)"></a>', PAGE.read_text(encoding="utf-8"))
    said = {code: re.findall(r"What to do.*", entry) for code, entry in zip(entries[::2], entries[1::2], strict=True)}
    assert said == {kind.code: [f"What to do:** {kind.action}"] for kind in TYPES}
