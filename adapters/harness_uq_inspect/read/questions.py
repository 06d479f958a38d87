"""The questions of a log: identifiers, content hashes, and fields that may identify clusters of questions."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Final

import msgspec
import numpy as np

from harness_uq.plugin_api import MAX_FIELDS, MetadataField, Questions, is_unknown, labels_of
from harness_uq_inspect.read.bounded_samples import CUT, MAX_TEXT, truncate_text
from harness_uq_inspect.read.schema import Json, Sample

ID_PREFIX: Final = "id_prefix"
_PLACEHOLDER: Final = re.compile(r"\((Image|Audio|Video|Data|Document|Reasoning|Tool_use)\)")
_PREFIX_LENGTH: Final = 200
_LONG_TEXT: Final = 120


def build_questions(documents: Mapping[str, Sample], order: Sequence[str]) -> Questions:
    """Questions in the given order.

    `documents`: one sample of each question with logged samples. `order`: identifiers of the questions; those without a
    document have only a reduced score in the log.
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


def dataset_order(sample_ids: Sequence[int | str] | None, questions: Iterable[str]) -> list[str]:
    """The questions in the order of the data set; then those that are not in `sample_ids`, in numerical order."""
    position = {str(question): index for index, question in enumerate(sample_ids or ())}
    return sorted(questions, key=lambda question: (position.get(question, len(position)), question.zfill(20)))


# ---------------------------------------------------------------- input


def _texts(sample: Sample) -> list[str] | None:
    """Texts of the input, equal for a sample and its summary; None if the log does not contain the input.

    As in summaries, texts are truncated, and images and other media are replaced by their type. Identifiers of
    messages are omitted, because they differ between runs.
    """
    if isinstance(sample.input, str):
        return [truncate_text(sample.input)]
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
            yield truncate_text(str(part.get("text"))) if kind == "text" else f"({kind.capitalize()})"
        else:
            yield truncate_text(str(part))


def _hash(sample: Sample | None, texts: list[str] | None) -> str:
    """SHA-256 of the input.

    Different questions may have equal inputs if these are truncated or contain media. The target and the identifier are
    then hashed, too: a question may not be matched between two runs, but different questions are never matched.
    """
    if sample is None or texts is None:
        return ""
    parts = list(texts)
    if any(text.endswith(CUT) or _PLACEHOLDER.fullmatch(text) for text in texts):
        parts += [str(sample.target)[:MAX_TEXT], str(sample.id)]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _prompt_prefix(prompts: Sequence[str | None]) -> MetadataField | None:
    """The characters after the prefix that all prompts share, which identify a passage that is part of the prompt."""
    present = [prompt for prompt in prompts if prompt is not None]
    if len(present) < 2:
        return None
    first, last = min(present), max(present)
    start = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False)))
    return _codes([None if prompt is None else prompt[start : start + _PREFIX_LENGTH] for prompt in prompts])


# ---------------------------------------------------------------- fields


def metadata_fields(metadata: Sequence[Json | None], ids: Sequence[str]) -> dict[str, MetadataField]:
    """Candidate cluster fields in the metadata of the questions with these identifiers: the first `MAX_FIELDS`."""
    columns: dict[str, list[object]] = {}
    for row, document in enumerate(metadata):
        for name, value in _leaves(document or {}):
            if name not in columns and len(columns) < MAX_FIELDS:
                columns[name] = [None] * len(metadata)
            if name in columns:
                columns[name][row] = value
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


def _codes(values: Sequence[object]) -> MetadataField:
    code_of: dict[object, int] = {}
    codes = np.full(len(values), -1, dtype=np.int64)
    for row, value in enumerate(values):
        if not is_unknown(value):
            key = msgspec.json.encode(value) if isinstance(value, list) else value
            codes[row] = code_of.setdefault(key, len(code_of))
    lengths = [len(key) for key in code_of if isinstance(key, str)]
    is_text = bool(lengths) and sum(lengths) / len(lengths) >= _LONG_TEXT
    labels = (key.decode() if isinstance(key, bytes) else str(key) for key in code_of)
    return MetadataField(codes, is_text, () if is_text else labels_of(labels))
