"""Tasks with metrics of every type, and a model that answers them without a network."""

import hashlib
import json
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import lm_eval.models  # noqa: F401 - a model registered before this import would hide every built-in one
import yaml
from lm_eval.api import metrics as lm_eval_functions
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model

N_REPEATS = 8
CHOICES = ["red", "green", "blue", "grey"]

UTILS = """
from harness_uq_lm_eval.aggregations import beta_mean
from lm_eval.api import metrics as lm_eval_functions
from lm_eval.api.metrics import acc_all


def right(results):
    return int(results[0][0] > results[1][0])


def all_rows(doc, results):
    return {"acc_all": (right(results) == 1, doc), "acc": float(right(results) == doc["label"])}


def flags(doc, results):
    return {"inst_level_acc": [bool(right(results)), doc["n"] % 2 == 0, True][: 1 + doc["n"] % 3]}


def share(items):
    flat = [flag for flags in items for flag in flags]
    return sum(flat) / len(flat)


def masked(doc, results):
    score = float(right(results))
    return {"acc_amb": (score, doc["n"] % 3 == 0), "acc_disamb": (score, doc["n"] % 3 != 0)}


def mean_amb(items):
    kept = [score for score, flag in items if flag]
    return sum(kept) / len(kept)


def partial(doc, results):
    found = {"acc": float(right(results))}
    if doc["n"] % 4:
        found["em"] = float(right(results))
    return found


def sometimes_nan(doc, results):
    score = float(right(results))
    return {"safe": score if doc["n"] % 5 else float("nan"), "typical": score + doc["n"] % 3}


def lengths(doc, results):
    return {"4096": float(right(results)) if doc["n"] % 2 else -1.0, "8192": -1.0}


def mean_of_length(items):
    kept = [item for item in items if item != -1]
    return sum(kept) / len(kept) if kept else -1.0


def texts(doc, results):
    names = ("bleu", "chrf", "chrf++", "ter") if hasattr(lm_eval_functions, "chrfpp") else ("bleu", "chrf", "ter")
    return dict.fromkeys(names, (doc["words"], results[0]))


def several_texts(doc, results):
    return dict.fromkeys(("bleu", "chrf", "ter"), ([doc["words"], "no such words"], results[0]))


def given_texts(doc, results):
    return dict.fromkeys(("bleu", "chrf", "ter"), (doc["words"], doc["words"]))


def odd(doc, results):
    return {"odd": {"anything": right(results)}}


def constant(items):
    return 0.25
"""

# by its full name since lm-eval 0.4.12; before, only from a file in the folder of the task
BETA_MEAN = (
    "!function utils.beta_mean"
    if version("lm-eval") < "0.4.12"
    else "!function harness_uq_lm_eval.aggregations.beta_mean"
)
CORPUS_METRICS = ("bleu", "chrf", "chrf++", "ter") if hasattr(lm_eval_functions, "chrfpp") else ("bleu", "chrf", "ter")
MEAN = {"aggregation": "mean", "higher_is_better": True}


@register_model("hash")
class HashLM(LM):
    """Answers determined by a hash of the document: half of them correct, with differences between passages."""

    def __init__(self, **_of_the_harness: object) -> None:
        super().__init__()
        self.n_calls = 0

    def loglikelihood(self, requests: Sequence[object]) -> list[tuple[float, bool]]:
        return [(-3 * _uniform(r.doc["id"], r.idx) - (r.idx != self._chosen(r.doc)), r.idx == 0) for r in requests]

    def loglikelihood_rolling(self, requests: Sequence[object]) -> list[float]:
        return [-len(r.args[0]) * (1 + _uniform(r.args[0])) / 3 for r in requests]

    def generate_until(self, requests: Sequence[object]) -> list[str]:
        replies = []
        for request in requests:
            self.n_calls += 1
            doc = request.doc
            is_right = _uniform(doc["id"], self.n_calls) < doc.get("ease", 0.6)
            replies.append(f"ANSWER: {doc['answer']}" if is_right else f"ANSWER: {self.n_calls % 3}")
        return replies

    @staticmethod
    def _chosen(doc: dict[str, object]) -> int:
        return 0 if _uniform(doc["id"]) < (0.25 if _uniform(doc.get("passage_id", "")) < 0.5 else 0.85) else 1


def _uniform(*keys: object) -> float:
    digest = hashlib.sha256("/".join(map(str, keys)).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def write(folder: Path) -> Path:
    """Write the task files and their data, and return the folder for `include_path`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "utils.py").write_text(UTILS, encoding="utf-8")
    for name, (docs, config) in _tasks().items():
        data = folder / f"{name}.jsonl"
        data.write_text("".join(json.dumps(doc) + "\n" for doc in docs), encoding="utf-8")
        content = {"task": name, "dataset_path": "json", "dataset_kwargs": {"data_files": {"test": str(data)}}}
        content |= {"test_split": "test", "metadata": {"version": 1}, **config}
        (folder / f"{name}.yaml").write_text(_dump(content), encoding="utf-8")
    for name, by_size in (("live_group", True), ("live_unweighted", False)):
        members = [f"{name}_{part}" for part in ("a", "b", "c")]
        metrics = [{"metric": "acc", "aggregation": "mean", "weight_by_size": by_size, "filter_list": ["none"]}]
        content = {"group": name, "task": members, "aggregate_metric_list": metrics, "metadata": {"version": 1}}
        (folder / f"{name}.yaml").write_text(_dump(content), encoding="utf-8")
    return folder


def _dump(content: dict[str, object]) -> str:
    """YAML in which a text that begins with `!function` becomes that tag."""
    lines = yaml.safe_dump(content, sort_keys=False, width=10_000).splitlines()
    return "\n".join(
        line.replace("'!function ", "!function ").removesuffix("'") if "!function" in line else line for line in lines
    )


def _tasks() -> dict[str, tuple[list[dict[str, object]], dict[str, object]]]:
    passages = _choice_docs("mc", 60, per_passage=3)
    pairs = {**_choice(["no", "yes"]), "doc_to_target": "label"}
    tasks: dict[str, tuple[list[dict[str, object]], dict[str, object]]] = {
        "live_mc": (passages, _choice(CHOICES) | _metrics("acc", "acc_norm") | _declared("passage_id")),
        "live_perfect": (_easy_docs(20), _choice(CHOICES) | _metrics("acc")),
        "live_f1": (_pair_docs("f1", 40), pairs | {"metric_list": [_of("f1", "f1"), _of("mcc", "matthews_corrcoef")]}),
        "live_brier": (
            _choice_docs("brier", 30),
            _choice(CHOICES)
            | {"metric_list": [{"metric": "brier_score", "aggregation": "brier_score", "higher_is_better": False}]},
        ),
        "live_acc_all": (
            _row_docs(40),
            pairs | _by("all_rows") | {"metric_list": [_of("acc_all", "!function utils.acc_all"), _of("acc", "mean")]},
        ),
        "live_flags": (
            _pair_docs("flags", 30),
            pairs | _by("flags") | {"metric_list": [_of("inst_level_acc", "!function utils.share")]},
        ),
        "live_masked": (
            _pair_docs("masked", 30),
            pairs
            | _by("masked")
            | {
                "metric_list": [
                    _of("acc_amb", "!function utils.mean_amb"),
                    _of("acc_disamb", "!function utils.mean_amb"),
                ]
            },
        ),
        "live_partial": (_pair_docs("partial", 40), pairs | _by("partial") | _metrics("acc", "em")),
        "live_nan": (
            _pair_docs("nan", 40),
            pairs | _by("sometimes_nan") | {"metric_list": [_of("safe", "nanmean"), _of("typical", "median")]},
        ),
        "live_lengths": (
            _pair_docs("lengths", 30),
            pairs
            | _by("lengths")
            | {
                "metric_list": [
                    _of("4096", "!function utils.mean_of_length"),
                    _of("8192", "!function utils.mean_of_length"),
                ]
            },
        ),
        "live_odd": (
            _pair_docs("odd", 20),
            pairs | _by("odd") | {"metric_list": [_of("odd", "!function utils.constant")]},
        ),
        "live_gen": (_sum_docs(24), _generation()),
        "live_bleu": (_word_docs(60), _corpus("texts", *CORPUS_METRICS)),
        "live_references": (_word_docs(12), _corpus("several_texts", "bleu", "chrf", "ter")),
        "live_copies": (_word_docs(12), _corpus("given_texts", "bleu", "chrf", "ter")),
        "live_ppl": (
            _text_docs(14),
            {
                "output_type": "loglikelihood_rolling",
                "doc_to_text": "",
                "doc_to_target": "text",
                "metric_list": [{"metric": m} for m in ("word_perplexity", "byte_perplexity", "bits_per_byte")],
            },
        ),
        "live_beta": (
            _choice_docs("beta", 40),
            _choice(CHOICES) | {"metric_list": [_of("acc", BETA_MEAN)]},
        ),
    }
    for group, sizes in (("live_group", (20, 20, 20)), ("live_unweighted", (40, 10, 10))):
        for part, n in zip("abc", sizes, strict=True):
            docs = [{**doc, "language": part} for doc in _choice_docs("shared" if group == "live_group" else part, n)]
            tasks[f"{group}_{part}"] = docs, _choice(CHOICES) | _metrics("acc")
    return tasks


def _choice(choices: list[str]) -> dict[str, object]:
    return {
        "output_type": "multiple_choice",
        "doc_to_text": "Question: {{question}}\nAnswer:",
        "doc_to_choice": choices,
        "doc_to_target": "label",
    }


def _generation() -> dict[str, object]:
    regex = {"function": "regex", "regex_pattern": "ANSWER: (\\d+)"}
    first, vote = {"function": "take_first"}, {"function": "majority_vote"}
    return {
        "output_type": "generate_until",
        "doc_to_text": "{{question}}",
        "doc_to_target": "answer",
        "generation_kwargs": {"until": ["\n"], "do_sample": True, "temperature": 0.8},
        "repeats": N_REPEATS,
        "filter_list": [{"name": "first", "filter": [regex, first]}, {"name": "maj@8", "filter": [regex, vote, first]}],
        **_metrics("exact_match"),
    }


def _corpus(function: str, *metrics: str) -> dict[str, object]:
    """Metrics that lm-eval computes from all texts together."""
    return {
        **_generation(),
        **_by(function),
        "repeats": 1,
        "filter_list": [{"name": "none", "filter": [{"function": "take_first"}]}],
        "metric_list": [_of(metric, metric) | {"higher_is_better": metric != "ter"} for metric in metrics],
        **_declared("passage_id"),
    }


def _of(metric: str, aggregation: str) -> dict[str, object]:
    return {"metric": metric, "aggregation": aggregation, "higher_is_better": True}


def _metrics(*names: str) -> dict[str, object]:
    return {"metric_list": [{"metric": name, **MEAN} for name in names]}


def _by(function: str) -> dict[str, object]:
    return {"process_results": f"!function utils.{function}"}


def _declared(field: str) -> dict[str, object]:
    return {"metadata": {"version": 1, "uq": {"cluster": field}}}


def _choice_docs(kind: str, n: int, per_passage: int = 1) -> list[dict[str, object]]:
    return [
        {
            "id": f"{kind}-{i}",
            "question": f"What is {kind} {i}?",
            "label": 0,
            "passage_id": f"{kind}-p{i // per_passage}",
        }
        for i in range(n)
    ]


def _easy_docs(n: int) -> list[dict[str, object]]:
    easy = (f"easy-{i}" for i in range(10_000) if HashLM._chosen({"id": f"easy-{i}"}) == 0)
    wins = (name for name in easy if -3 * _uniform(name, 0) > -1 - 3 * min(_uniform(name, j) for j in (1, 2, 3)))
    return [{"id": next(wins), "question": f"Easy {i}?", "label": 0} for i in range(n)]


def _pair_docs(kind: str, n: int) -> list[dict[str, object]]:
    return [{"id": f"{kind}-{i}", "n": i, "question": f"Is {kind} {i} so?", "label": i % 3 // 2} for i in range(n)]


def _row_docs(n: int) -> list[dict[str, object]]:
    return [
        {
            "id": f"row-{i}",
            "question": f"Row {i}?",
            "label": i % 2,
            "idx": {"paragraph": i // 8, "question": i // 2 % 4, "answer": i % 2},
        }
        for i in range(n)
    ]


def _sum_docs(n: int) -> list[dict[str, object]]:
    return [
        {"id": f"sum-{i}", "question": f"{i} + {i}?", "answer": str(2 * i + 7), "ease": 0.1 + 0.8 * _uniform("ease", i)}
        for i in range(n)
    ]


def _word_docs(n: int) -> list[dict[str, object]]:
    return [
        {
            "id": f"word-{i}",
            "question": f"Say {i}",
            "answer": f"{i} small birds",
            "words": f"ANSWER: {i} small birds sing",
            "passage_id": f"word-p{i // 3}",
            "ease": 0.1 if _uniform("ease", i // 3) < 0.5 else 0.9,
        }
        for i in range(n)
    ]


def _text_docs(n: int) -> list[dict[str, object]]:
    return [{"id": f"text-{i}", "text": " ".join(f"word{j}" for j in range(4 + 3 * i))} for i in range(n)]


EVERYTHING = (
    *(name for name in _tasks() if not name.startswith(("live_group", "live_unweighted"))),
    "live_group",
    "live_unweighted",
)
