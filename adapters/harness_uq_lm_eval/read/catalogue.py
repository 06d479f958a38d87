"""Catalogue of known lm-eval tasks: which questions share material, and which document fields identify it."""

import json
from functools import cache
from importlib.resources import files

from harness_uq.plugin_api import Catalogue, CatalogueEntry

_RANGES = (
    (r"acc|acc_norm|acc_bytes|acc_mutual_info|acc_all|acc_greedy|em|exact_match|exact|f1|mc1|mc2|contains", (0.0, 1.0)),
    (r"pass@\d+|(prompt|inst)_level_(strict|loose)_acc|bleu_acc|rouge[12L]_acc", (0.0, 1.0)),
    (r"pct_(stereotype|invalid|male_preferred|female_preferred)", (0.0, 1.0)),
    (r"rouge[12L]|rouge[12L]_max|bleu_max|eqbench|percent_parseable", (0.0, 100.0)),
    (r"brier_score", (0.0, 2.0)),
)
_SHARES = r"acc|acc_norm|acc_bytes|exact_match|em|accuracy|contains|mc1|prompt_level_(strict|loose)_acc"
_LOWER = r".*(perplexity|bits_per_byte|brier|error_rate|loss).*|ter|wer|cer|ece|mse|mae|rmse"

_JUDGED_TASKS = r"pisa_.+_llm_judged"


@cache
def load_catalogue() -> Catalogue:
    """Tasks of `catalogue.json`, and ranges and directions of lm-eval's metrics, used if its logs do not state them.

    A pattern is a regular expression for the whole name. Fields are dotted paths in the logged document; `a+b` is a
    composite key, and `prompt_prefix` is the text at the beginning of the prompt. Items are the questions that the
    tasks of a group share. The field `doc_id` is the index of a document in its data set.
    """
    text = files(__package__).joinpath("catalogue.json").read_text(encoding="utf-8")
    tasks = tuple(
        CatalogueEntry(
            pattern=entry["pattern"],
            cluster_fields=tuple(entry.get("cluster_fields", ())),
            strata=tuple(entry.get("strata", ())),
            note=entry["note"],
            verified=entry["verified"],
            item_fields=tuple(entry.get("item_fields", ())),
        )
        for entry in json.loads(text)
    )
    return Catalogue(tasks, _RANGES, _SHARES, _LOWER, judged_tasks=_JUDGED_TASKS)
