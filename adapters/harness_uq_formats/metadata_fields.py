"""Fields of the questions that may define clusters."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from harness_uq.plugin_api import MAX_FIELDS, MetadataField

_LONG_TEXT: Final = 120


def metadata_fields(documents: Sequence[Mapping[str, object]]) -> dict[str, MetadataField]:
    """Fields by name, with texts, numbers and truth values; other values are missing.

    Parameters
    ----------
    documents : values of each question by the name of the field
    """
    names = list(dict.fromkeys(name for document in documents for name in document))[:MAX_FIELDS]
    return {str(name): _field([document.get(name) for document in documents]) for name in names}


def _field(values: Sequence[object]) -> MetadataField:
    code_of = dict[str, int]()
    texts = [str(value) if isinstance(value, str | int | float) else None for value in values]
    codes = [-1 if text is None else code_of.setdefault(text, len(code_of)) for text in texts]
    lengths = [len(text) for text in texts if text is not None]
    return MetadataField(np.array(codes), is_text=sum(lengths) >= _LONG_TEXT * max(1, len(lengths)))
