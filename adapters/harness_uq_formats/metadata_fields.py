"""Fields of the questions that may define clusters."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from harness_uq.plugin_api import MAX_FIELDS, MetadataField

_LONG_TEXT: Final = 120


def metadata_fields(documents: Sequence[Mapping[str, object]]) -> dict[str, MetadataField]:
    """Fields with simple values by name.

    Parameters
    ----------
    documents : values of each question by the name of the field
    """
    names = list(dict.fromkeys(name for document in documents for name in document))[:MAX_FIELDS]
    return {name: _field([document.get(name) for document in documents]) for name in names}


def _field(values: Sequence[object]) -> MetadataField:
    code_of = dict[str, int]()
    texts = [str(value) for value in values if value is not None]
    codes = [-1 if value is None else code_of.setdefault(str(value), len(code_of)) for value in values]
    return MetadataField(np.array(codes), is_text=sum(map(len, texts)) >= _LONG_TEXT * max(1, len(texts)))
