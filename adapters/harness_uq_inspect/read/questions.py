"""The questions of a log: identity, content hash, and fields that may say which questions share material."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Final

import msgspec
import numpy as np

from harness_uq import CandidateField, Questions
from harness_uq.logs.unknown import is_unknown
from harness_uq_inspect.read.schema import Json, Sample

ID_PREFIX: Final = "id_prefix"
_LONGEST_TEXT: Final = 5120  # summaries cut a text of the input here
_CUT: Final = "...\n(content truncated)"
_PLACEHOLDER: Final = re.compile(r"\((Image|Audio|Video|Data|Document|Reasoning|Tool_use)\)")
_PREFIX_LENGTH: Final = 200
_LONG_TEXT: Final = 120


def build_questions(documents: Mapping[str, Sample], order: Sequence[str]) -> Questions:
    """Questions in the given order.

    Parameters
    ----------
    documents : a sample of each question whose samples were logged
    order : identifiers; one without a document is a question of which only the reduced score was logged
    """
    samples = [documents.get(question) for question in order]
    texts = [None if sample is None else _texts(sample) for sample in samples]
    hashes = tuple(_hash(sample, text) for sample, text in zip(samples, texts, strict=True))
    return Questions(
        ids=tuple(order),
        hashes=hashes if any(hashes) else (),
        fields=metadata_fields([None if sample is None else sample.metadata for sample in samples], order),
        prompt_prefix=_prompt_prefix([None if text is None else "\n".join(text) for text in texts]),
    )


def dataset_order(known: Sequence[int | str] | None, found: Mapping[str, object]) -> list[str]:
    """Identifiers of the questions found, in the order of the data set; others after them, numbers by size."""
    position = {str(question): at for at, question in enumerate(known or ())}
    return sorted(found, key=lambda question: (position.get(question, len(position)), question.zfill(20)))


# ---------------------------------------------------------------- input


def _texts(sample: Sample) -> list[str] | None:
    """Texts of the input, the same from a sample and from its summary; None where the log holds no input.

    A summary cuts texts and puts the kind of a medium in its place; so does this. Identifiers of messages differ
    between runs and are left out.
    """
    if isinstance(sample.input, str):
        return [_cut(sample.input)]
    messages = sample.input if isinstance(sample.input, list) else []
    if not messages or not all(isinstance(message, dict) and "content" in message for message in messages):
        return None
    return [text for message in messages for text in _message_texts(message)]


def _message_texts(message: Json) -> Iterator[str]:
    content = message.get("content")
    yield f"{message.get('role')}:"
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, dict):
            kind = str(part.get("type"))
            yield _cut(str(part.get("text"))) if kind == "text" else f"({kind.capitalize()})"
        else:
            yield _cut(str(part))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + _CUT


def _hash(sample: Sample | None, texts: list[str] | None) -> str:
    """SHA-256 of the input.

    Where the input was cut or holds media, different questions can look alike, so target and id are hashed too:
    two runs may then fail to match a question, but never match two different ones.
    """
    if sample is None or texts is None:
        return ""
    parts = list(texts)
    if any(text.endswith(_CUT) or _PLACEHOLDER.fullmatch(text) for text in texts):
        parts += [str(sample.target)[:_LONGEST_TEXT], str(sample.id)]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _prompt_prefix(prompts: Sequence[str | None]) -> CandidateField | None:
    """The characters that follow what all prompts have in common: where a passage stands in the prompt itself."""
    present = [prompt for prompt in prompts if prompt is not None]
    if len(present) < 2:
        return None
    first, last = min(present), max(present)
    start = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False)))
    return _codes([None if prompt is None else prompt[start : start + _PREFIX_LENGTH] for prompt in prompts])


# ---------------------------------------------------------------- fields


def metadata_fields(metadata: Sequence[Json | None], ids: Sequence[str]) -> dict[str, CandidateField]:
    """Candidate fields in the metadata of the questions with these identifiers."""
    columns: dict[str, list[object]] = {}
    for row, document in enumerate(metadata):
        for name, value in _leaves(document or {}):
            columns.setdefault(name, [None] * len(metadata))[row] = value
    fields = {name: _codes(values) for name, values in columns.items()}
    prefix = _codes([question.rpartition("_")[0] or question for question in ids])
    if 1 < prefix.n_distinct < len(ids):
        fields.setdefault(ID_PREFIX, prefix)
    return fields


def _leaves(document: Json) -> Iterator[tuple[str, object]]:
    """Dotted names and values, two levels deep; a list counts as one value."""
    for name, value in document.items():
        if isinstance(value, dict):
            yield from ((f"{name}.{inner}", leaf) for inner, leaf in value.items() if not isinstance(leaf, dict))
        else:
            yield name, value


def _codes(values: Sequence[object]) -> CandidateField:
    code_of: dict[object, int] = {}
    codes = np.full(len(values), -1, dtype=np.int64)
    for row, value in enumerate(values):
        if not is_unknown(value):
            key = msgspec.json.encode(value) if isinstance(value, list) else value
            codes[row] = code_of.setdefault(key, len(code_of))
    lengths = [len(key) for key in code_of if isinstance(key, str)]
    return CandidateField(codes, is_text=bool(lengths) and sum(lengths) / len(lengths) >= _LONG_TEXT)
