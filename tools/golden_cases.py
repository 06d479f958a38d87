"""The grid of commands and calls that `golden.py` runs."""

import random
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any

# commands that have these options
SEEDED = {"estimate", "compare", "rank", "gate", "plan", "report", "subset", "rescore"}
WITH_JSON = {"estimate", "compare", "rank", "gate", "plan", "report", "history", "grader", "effects", "structure"}
BASES = {"estimate": "t/answers.csv --model large", "compare": "m/binary.csv", "rank": "m/clusters.csv"}


@dataclass(frozen=True)
class Case:
    """One or more commands in a row, or a call of a function of arrays.

    The commands run in the folder of the data. `{out}` in an argument is a folder of this case alone.
    """

    name: str
    commands: tuple[tuple[str, ...], ...] = ()
    call: Callable[[int], object] | None = field(default=None, compare=False)
    shared: bool = False  # needs the logs beside the repository


def all_cases() -> list[Case]:
    """All cases, in the order of their names."""
    cases = [case for part in (_commands(), _shared(), _calls()) for case in part]
    names = [case.name for case in cases]
    if duplicates := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"cases with the same name: {', '.join(sorted(duplicates))}")
    return sorted(cases, key=lambda case: case.name)


def _case(*lines: str, shared: bool = False) -> Case:
    """A case whose name is its first command, without the extensions of tables."""
    commands = tuple(tuple(shlex.split(line)) for line in lines)
    return Case(lines[-1].replace(".csv", "").replace("{out}", "out"), commands, shared=shared)


def _commands() -> Iterator[Case]:
    for lines in (_estimates, _comparisons, _rankings, _gates, _others, _formats, _errors):
        for line in dict.fromkeys(lines()):
            yield _case(line)
    for steps in SEQUENCES:
        yield _case(*steps)


TABLES = {
    "binary": "m/binary.csv --model new",
    "clusters": "m/clusters.csv --model one",
    "trials": "m/trials.csv --model one",
    "nested": "m/nested.csv --model new",
    "graded": "m/graded.csv --model one --range score=0,1",
    "graded-clusters": "m/graded_clusters.csv --model new --range score=0,1 --cluster document",
    "real": "m/real.csv --model one",
    "missing": "m/missing.csv --model one",
    "few": "m/few.csv",
}
_PLAIN = "bayes wilson t clt beta jeffreys clopper-pearson agresti-coull dirichlet-process bayesian-bootstrap"
_CLUSTERED = " ".join(f"clustered-{name}" for name in ("beta", "clt", "cr2", "dp", "gamma", "is", "t", "wilson"))
METHODS = {
    "binary": f"{_PLAIN} confidence-sequence clustered benchmark pass-k full-benchmark",
    "clusters": f"bayes wilson t clt clustered nested confidence-sequence {_CLUSTERED}",
    "trials": f"bayes wilson t clt clustered bayes-at-n avg-at-n pass-k pass-k-unbiased benchmark {_CLUSTERED}",
    "nested": "bayes wilson t clt nested clustered clustered-dp bayes-at-n",
    "graded": "bayes t clt hall dirichlet-process bayesian-bootstrap wilson confidence-sequence",
    "graded-clusters": "bayes t clt clustered clustered-dp clustered-cr2 hall benchmark",
    "real": "bayes t clt hall beta bayesian-bootstrap",
    "missing": "bayes wilson t",
    "few": "bayes wilson t hall clopper-pearson",
}
MISSING = ("drop", "zero", "bounds", "error", "token-limit=zero --missing error=drop", "limit=bounds")
WIDE = "z/csv/no_clt_paper/langchain_data_tool_use_FULL.csv --column question=index"
CHANCE = "--chance algebra=0.25 --chance history=0.25 --chance law=0.5 --chance poetry=0.2"


def _estimates() -> Iterator[str]:
    for name, methods in METHODS.items():
        for method in methods.split():
            yield f"estimate {TABLES[name]} --method {method}"
    for table in TABLES.values():
        yield f"estimate {table} --scope benchmark"
        yield f"estimate {table} --interval hdi --level 0.8"
        yield f"estimate {table} --interval quantile --level 0.99"
    for table, estimand in product(
        ("m/trials.csv", "m/nested.csv", "d/inspect --task word_problems"),
        ("pass@1", "pass@2", "pass^2", "pass@4", "G-pass@3:0.5", "mG-pass@3", "maj@3"),
    ):
        yield f"estimate {table} --estimand {estimand}"
        if estimand in ("pass@2", "maj@3"):
            yield f"estimate {table} --estimand {estimand} --scope benchmark"
    for table, policy in product(("m/missing.csv", "m/missing_trials.csv", "t/answers.csv"), MISSING):
        yield f"estimate {table} --missing {policy}"
    for name in ("binary", "trials", "nested", "graded", "clusters"):
        for method in ("benchmark", "bayes-at-n", "avg-at-n", "t", "wilson"):
            yield f"estimate {TABLES[name]} --method {method} --scope benchmark"
    for method, estimand in product(("pass-k", "pass-k-unbiased", "t", "bayesian-bootstrap"), ("pass@2", "pass^2")):
        yield f"estimate {TABLES['trials']} --method {method} --estimand {estimand}"
        yield f"estimate {TABLES['nested']} --method {method} --estimand {estimand}"
    yield "estimate m/missing.csv --missing bounds --scope benchmark"
    yield "estimate m/missing.csv --treat limit=zero"
    yield "estimate m/missing_trials.csv --missing bounds --estimand pass@2"
    for table in ("m/binary.csv", "m/trials.csv", "m/graded.csv"):
        yield f"estimate {table} --by kind"
    yield "estimate t/answers.csv --by level --missing bounds"
    yield "estimate d/lm-eval --task demo_passages --by passage_id"
    for options in (
        "",
        "--weights questions",
        f"{CHANCE} --normalize chance",
        "--missing-tasks drop-system",
        "--missing-tasks error",
        "--generalize-over task",
        "--scope benchmark",
        "--sort score",
        "--missing-tasks common --per-task",
        "--method t",
        "--model a --model b --method wilson",
    ):
        yield f"estimate m/tasks.csv {options}".strip()
    for source in ("d/lm-eval", "d/inspect", "z/lm_eval/negotiationtom_group_clusters", "z/inspect/old_formats"):
        yield f"estimate {source}"
        yield f"estimate {source} --method t --level 0.9"
    for source in (
        "z/lm_eval/mmlu_pro_plus_group_two_models",
        "z/lm_eval/gsm8k_two_models_truncated_samples",
        "z/lm_eval/derived_repeats4_aime25_ii",
        "z/lm_eval/truthfulqa_gen_category_clusters --task truthfulqa_gen --metric 'bleu_*'",
        "z/inspect/popularity_100_two_models",
        "z/inspect/popularity_5epochs_3models",
        "z/inspect/numeric_string_grades",
        "z/inspect/unscored",
        "z/csv/no_clt_paper/matharena_aime_II.csv --column question=Question --column 'system=o*,*R1,QwQ*'",
        f"{WIDE} --column 'system=gpt*,llama*'",
    ):
        yield f"estimate {source}"
    yield "estimate d/lm-eval --task demo_exam --weights subtasks"
    yield "estimate d/lm-eval --task demo_exam --method group"
    yield "estimate d/lm-eval --task 'demo_exam_*' --task demo_passages --weights questions"
    yield "estimate d/lm-eval --task demo_divides --method bayesian-bootstrap"
    yield "estimate d/lm-eval --task demo_divides --method confusion"
    yield "estimate d/lm-eval --task demo_passages --cluster none"
    yield "estimate d/lm-eval --task demo_passages --cluster demo_passages=passage_id --level 0.5"
    yield "estimate d/lm-eval --metric acc --filter none --model '*large*' --percent"
    yield "estimate d/lm-eval --ignore UQ104"
    yield "estimate z/lm_eval/mmlu_pro_plus_group_two_models --use-samples"
    yield "estimate z/inspect/popularity_5epochs_3models --generalize-over question"
    yield "estimate m/runs --generalize-over question,prompt"
    yield "plan m/runs --generalize-over question,prompt --cost-per-level prompt=100 --budget 10000"
    for table in ("t/agents.csv", "m/resources.csv"):
        yield f"estimate {table} --resources"
    yield "estimate t/tokens.csv --token-prices t/prices.toml"
    yield "estimate m/resources.csv --resources --cluster repo --method t"
    yield "estimate t/grades.csv --labels t/labels.csv"
    yield "estimate m/binary.csv --labels m/labels.csv --inclusion-probabilities probability"
    yield "estimate m/binary.csv --labels m/labels.csv"
    yield "estimate m/judged.csv --column metric=grader --labels human"
    yield "estimate m/judged.csv --column metric=grader --labels human --cluster passage_id"
    yield "estimate m/part.csv --column task=task --scope full --reference-runs m/reference.csv"
    yield "estimate m/part.csv --scope full"


def _comparisons() -> Iterator[str]:
    pairs = {
        "m/binary.csv": "",
        "m/nested.csv": "",
        "m/graded_clusters.csv --range score=0,1 --cluster document": "",
        "m/graded.csv --model one --model two --range score=0,1": "",
        "m/graded.csv --model three --model two": "",
        "m/clusters.csv --model one --model three": "",
        "m/trials.csv --model one --model two": "",
        "m/real.csv --model one --model two": "",
        "m/few.csv --model right --model wrong": "",
        "m/few.csv --model right --model mixed": "",
        "m/partial.csv --model one --model two": "",
        "m/missing.csv --model one --model two": "",
        "m/missing_trials.csv": "",
        "m/pair_of_tasks.csv": "",
        "t/answers.csv": "",
        "t/grades.csv": "",
        "d/inspect": "",
    }
    for pair, options in product(
        pairs, ("", "--scope benchmark", "--method t", "--method independent", "--margin 0.05 --level 0.9")
    ):
        yield f"compare {pair} {options}".strip()
    for pair in ("m/binary.csv", "m/nested.csv", "m/pair_of_tasks.csv", "t/answers.csv"):
        yield f"compare {pair} --method t --scope benchmark --margin 0.02"
        yield f"compare {pair} --method independent --scope benchmark"
        yield f"compare {pair} --fail-if-worse --margin 0.01"
        yield f"compare {pair} --disagreements 3"
        names = "--model small --model large" if pair == "t/answers.csv" else "--model old --model new"
        yield f"compare {pair} {names} --fail-if-worse"
    for pair, policy in product(
        ("m/missing.csv --model one --model two", "m/missing_trials.csv", "t/answers.csv"), MISSING
    ):
        yield f"compare {pair} --missing {policy}"
    for pair in ("m/missing.csv --model one --model two", "m/missing_trials.csv", "t/answers.csv"):
        yield f"compare {pair} --missing bounds --method t --margin 0.1"
        yield f"compare {pair} --missing bounds --scope benchmark"
    yield "compare m/missing.csv --model one --model two --treat limit=zero"
    yield "compare t/answers.csv --by level --missing bounds"
    for pair in ("m/binary.csv", "m/pair_of_tasks.csv", "m/trials.csv --model one --model two"):
        yield f"compare {pair} --by kind"
        yield f"compare {pair} --by kind --method t"
    yield "compare m/graded.csv --model one --model two --by kind --range score=0,1 --scope benchmark"
    for table in ("m/many.csv --baseline a", "m/clusters.csv --baseline two", "m/trials.csv --baseline one"):
        yield f"compare {table}"
        yield f"compare {table} --margin 0.05 --method t"
        yield f"compare {table} --scope benchmark --per-task"
    for table in ("m/graded.csv --baseline one", "m/missing.csv --baseline three", "m/partial.csv --baseline two"):
        yield f"compare {table}"
    yield "compare m/missing.csv --baseline three --missing bounds"
    yield "compare m/many.csv --baseline a --by kind"
    for options in (
        "--baseline a",
        "--baseline a --per-task",
        "--baseline a --weights questions --method t",
        "--baseline d --missing-tasks drop-system",
        "--baseline a --missing-tasks error",
        "--model a --model b",
        "--model a --model d --overall --fail-if-worse",
        "--model d --model a --overall --fail-if-worse",
        f"--model a --model b {CHANCE} --normalize chance",
        "--model a --model b --margin algebra=0.1 --margin 0.02 --task algebra --task law",
        "--model a --model b --scope benchmark",
        "--model a --model b --method independent",
    ):
        yield f"compare m/tasks.csv {options}"
    yield "compare m/pair_of_tasks.csv --weights questions"
    for options in ("", "--method t", "--scope benchmark", "--weights questions --overall --fail-if-worse --level 0.8"):
        yield f"compare m/pair_of_tasks.csv --range score=0,1 {options}".strip()
    yield "compare m/pair_of_tasks.csv --margin t1=0.1 --margin 0.02"
    for options in ("", "--method t", "--method independent", "--scope benchmark"):
        yield f"compare d/lm-eval {options}".strip()
    yield "compare d/lm-eval --task 'demo_exam_*' --task demo_passages"
    yield "compare d/lm-eval --task demo_exam"
    yield "compare d/lm-eval --task demo_exam --weights subtasks"
    yield "compare d/lm-eval --task demo_passages --cluster none"
    yield "compare d/lm-eval --task demo_word_problems --filter trials --margin 0.1"
    yield "compare d/lm-eval --task demo_divides"
    yield "compare d/lm-eval --task demo_passages --by passage_id"
    for source in (
        "z/lm_eval/mmlu_pro_plus_group_two_models",
        "z/lm_eval/mmlu_pro_plus_group_two_models --use-samples",
        "z/lm_eval/gsm8k_two_models_truncated_samples",
        "z/lm_eval/derived_repeats4_aime25_ii",
        "z/lm_eval/truthfulqa_gen_category_clusters",
        "a=z/lm_eval/negotiationtom_group_clusters/run_a b=z/lm_eval/negotiationtom_group_clusters/run_b",
        "z/inspect/popularity_100_two_models",
        "z/inspect/popularity_5epochs_3models --model openai/gpt-5 --model google/gemini-2.5-pro",
        "z/inspect/popularity_5epochs_3models --baseline anthropic/claude-sonnet-4-20250514",
        f"{WIDE} --column 'system=gpt-4*' --margin 0.1",
    ):
        yield f"compare {source}"
    for table in ("t/agents.csv --model large --model small", "m/resources.csv --model one --model two"):
        yield f"compare {table} --resources"
        yield f"compare {table} --resources --scope benchmark"
    yield "compare m/resources.csv --baseline one --resources"
    yield "compare t/tokens.csv --model large --model small --token-prices t/prices.toml"
    for labels in ("t/labels.csv", "t/labels_new.csv", "t/labels_new.csv --grader-shift 0.02"):
        yield f"compare t/grades.csv --labels {labels}"
    yield "compare t/grades.csv --labels t/labels.csv --margin 0.05 --level 0.9"
    yield "compare m/binary.csv --labels m/labels.csv"
    yield "compare m/judged.csv --column metric=grader --labels human"
    yield "compare m/judged.csv --column metric=grader --labels human --cluster passage_id"


def _rankings() -> Iterator[str]:
    tables = (
        "m/many.csv",
        "m/clusters.csv",
        "m/trials.csv",
        "m/nested.csv",
        "m/graded.csv --range score=0,1",
        "m/graded_clusters.csv --range score=0,1 --cluster document",
        "m/real.csv",
        "m/few.csv",
        "m/partial.csv",
        "m/missing.csv",
        "m/binary.csv",
        "t/answers.csv",
    )
    for table, options in product(tables, ("", "--scope benchmark", "--correction bh --level 0.8")):
        yield f"rank {table} {options}".strip()
    for table, policy in product(("m/missing.csv", "m/missing_trials.csv", "t/answers.csv"), MISSING):
        yield f"rank {table} --missing {policy}"
    yield "rank m/missing.csv --missing bounds --scope benchmark"
    yield "rank m/missing.csv --missing bounds --by kind"
    for table in ("m/many.csv", "m/trials.csv", "m/graded.csv --range score=0,1"):
        yield f"rank {table} --by kind"
    for options in (
        "",
        "--per-task",
        "--weights questions",
        "--missing-tasks drop-system",
        "--missing-tasks error",
        "--generalize-over task",
        "--correction bh --per-task",
        "--scope benchmark",
        f"{CHANCE} --normalize chance",
    ):
        yield f"rank m/tasks.csv {options}".strip()
    yield "rank m/pair_of_tasks.csv --per-task"
    for options in ("", "--scope benchmark", "--weights questions"):
        yield f"rank m/pair_of_tasks.csv --range score=0,1 {options}".strip()
    for source in (
        "d/lm-eval",
        "d/lm-eval --scope benchmark",
        "d/lm-eval --task 'demo_exam_*' --task demo_passages --per-task",
        "d/lm-eval --task demo_exam",
        "d/lm-eval --task demo_divides",
        "d/inspect",
        "d/inspect --task word_problems --scope benchmark",
        "z/lm_eval/mmlu_pro_plus_group_two_models",
        "z/lm_eval/derived_repeats4_aime25_ii",
        "a=z/lm_eval/negotiationtom_group_clusters/run_a b=z/lm_eval/negotiationtom_group_clusters/run_b",
        "z/inspect/popularity_100_two_models",
        "z/inspect/popularity_5epochs_3models",
        f"{WIDE} --column 'system=claude*,gpt*,llama*'",
        "z/csv/no_clt_paper/matharena_aime_II.csv --column question=Question --column 'system=*R1,QwQ*,gemini*'",
    ):
        yield f"rank {source}"
    for table in ("t/agents.csv", "m/resources.csv"):
        yield f"rank {table} --resources"
    yield "rank m/resources.csv --resources --metric cost --cluster repo"
    yield "rank t/tokens.csv --token-prices t/prices.toml"
    yield "rank t/grades.csv --labels t/labels.csv"
    yield "rank t/grades.csv --labels t/labels.csv --scope benchmark"
    yield "rank m/binary.csv --labels m/labels.csv"
    yield "rank m/judged.csv --column metric=grader --labels human"


def _gates() -> Iterator[str]:
    large, small = "large=d/lm-eval/scripted-large", "small=d/lm-eval/scripted-small"
    for options in (
        "",
        "--margin 0.03",
        "--margin 0.03 --task demo_passages",
        "--margin 0.03 --task demo_word_problems --filter first",
        "--margin 0.05 --scope benchmark --metric acc",
        "--margin 0.05 --task 'demo_exam_*' --overall",
        "--margin 0.05 --task 'demo_exam_*' --overall --weights questions",
        "--improve-by 0.02 --task demo_passages",
        "--improve-by demo_passages=0.01 --margin 0.05 --metric acc",
        "--at-least 'demo_exam_*=0.5' --margin 0.1 --metric acc",
    ):
        yield f"gate {large} --baseline {small} {options}".strip()
    for options in (
        "--margin 0.05 --task 'demo_exam_*' --task demo_passages",
        "--margin 0.2 --task 'demo_exam_*' --on-undecided pass",
        "--margin 0.05 --task 'demo_exam_*' --on-undecided fail",
        "--margin 0.05 --task 'demo_exam_*' --level 0.8",
    ):
        yield f"gate {small} --baseline {large} {options}"
    for bounds in (
        "--at-least demo_passages=0.6",
        "--at-least demo_passages=0.85",
        "--at-most demo_passages=0.9",
        "--at-least 'demo_exam_*=0.5' --at-least demo_passages=0.85",
        "--at-least demo_divides:f1=0.4",
        "--at-least demo_word_problems=0.3 --scope benchmark",
        "--at-least 0.5 --metric acc --overall",
    ):
        yield f"gate d/lm-eval/scripted-large {bounds}"
    pairs = {"m/binary": ("new", "old"), "m/nested": ("new", "old"), "m/graded_clusters": ("old", "new")}
    pairs |= {"m/missing_trials": ("new", "old"), "m/pair_of_tasks": ("new", "old"), "t/answers": ("small", "large")}
    pairs |= {"m/partial": ("two", "one"), "m/tasks": ("a", "b")}
    for (table, (new, old)), options in product(
        pairs.items(),
        ("--margin 0.1", "--margin 0.1 --scope benchmark", "--improve-by 0.01", "--at-least 0.5 --margin 0.2"),
    ):
        yield f"gate {new}={table}.csv --baseline {old}={table}.csv {options}"
    for table, policy in product(("m/missing_trials", "t/answers"), ("zero", "bounds", "error=zero --missing drop")):
        new, old = pairs[table]
        yield f"gate {new}={table}.csv --baseline {old}={table}.csv --margin 0.1 --missing {policy}"
    yield "gate new=m/binary.csv --baseline old=m/binary.csv --margin 0.1 --by kind"
    pair = "new=m/pair_of_tasks.csv --baseline old=m/pair_of_tasks.csv --range score=0,1"
    yield f"gate {pair} --margin t1=0.2 --margin 0.1 --overall"
    yield "gate new=t/grades.csv --baseline old=t/grades.csv --labels t/labels.csv --margin 0.05"
    yield "gate new=m/binary.csv --baseline old=m/binary.csv --labels m/labels.csv --margin 0.1"
    for bound in ("--at-least 0.5", "--at-most 0.9", "--at-least 0.3 --scope benchmark", "--at-least 0.5 --level 0.8"):
        for name in ("nested", "missing", "graded", "real"):
            yield f"gate {TABLES[name]} {bound}"
        yield f"gate m/few.csv --model right {bound}"
    yield "gate m/missing.csv --model one --at-least 0.5 --missing bounds"
    yield "gate m/trials.csv --model one --at-least 0.4 --by kind"
    yield "gate m/tasks.csv --model a --at-least algebra=0.5 --at-least 'law=0.2'"
    yield "gate m/tasks.csv --model a --at-least 0.3 --overall"
    nights = [f"main=t/nightly/2026-11-{day:02}.csv" for day in range(1, 5)]
    for n in (1, 2, 4):
        yield f"gate new=t/nightly/2026-11-20.csv --baseline {' '.join(nights[:n])} --margin 0.02"
    yield f"gate new=t/nightly/2026-11-20.csv new=t/nightly/2026-11-19.csv --baseline {' '.join(nights)} --margin 0.05"
    yield f"gate new=t/nightly/2026-11-20.csv --baseline {nights[0]} --history main=t/nightly --margin 0.02"
    yield f"gate new=t/nightly/2026-11-20.csv --baseline {' '.join(nights[:2])} --improve-by 0.02 --scope benchmark"
    for kind in ("", "auto", "epochs", "halves"):
        yield f"gate m/trials.csv --model one --self-test {kind} --margin 0.1 --n-simulations 40".replace("  ", " ")
    yield "gate m/binary.csv --model new --self-test halves --margin 0.1 --n-simulations 40"
    yield "gate m/runs --self-test runs --margin 0.1 --n-simulations 10"
    yield "gate d/inspect/scripted-large --self-test --margin 0.1 --task word_problems --n-simulations 20"
    yield "gate z/inspect/popularity_5epochs_3models --model openai/gpt-5 --at-least 0.2"


def _others() -> Iterator[str]:
    for source in (
        "d/lm-eval",
        "d/inspect",
        "m/binary.csv",
        "m/trials.csv",
        "m/tasks.csv --model a --model b",
        "m/missing.csv --missing bounds",
        "m/resources.csv --resources",
        "m/graded.csv --by kind --margin 0.05",
        "t/grades.csv --labels t/labels.csv --model new",
        "m/nested.csv --estimand pass@2",
        "m/many.csv --scope benchmark",
        "m/tasks.csv --method t --weights questions",
        "z/lm_eval/mmlu_pro_plus_group_two_models",
        "z/inspect/popularity_5epochs_3models",
    ):
        yield f"report {source}"
    for source in (
        "d/lm-eval --difference 0.05",
        "d/lm-eval --task demo_passages --difference 0.05",
        "d/inspect/scripted-large --task word_problems --width 0.1 --cost-per-question 4 --cost-per-trial 1",
        "d/inspect/scripted-large --task word_problems --width 0.1 --budget 500 --cost-per-trial 1",
        "m/binary.csv --difference 0.1",
        "m/binary.csv --model new --width 0.1",
        "m/trials.csv --model one --width 0.1 --trials 2",
        "m/trials.csv --model one --model two --difference 0.1 --questions 100",
        "m/nested.csv --difference 0.05 --power 0.9",
        "m/graded.csv --model one --width 0.05 --range score=0,1",
        "m/missing.csv --model one --width 0.1 --missing zero",
        "m/real.csv --model one --model two --difference 1",
        "--difference-variance 0.1111 --difference 0.03",
        "--difference-variance 0.1111 --variance-within 0.1667 --questions 198 --trials 10",
        "--score 0.8 --correlation 0.5 --difference 0.05",
        "--score 0.8 --width 0.05 --design-effect 2",
        "--score 0.5 --budget 400 --cost-per-trial 1",
        "--reference-runs m/reference.csv --width 0.1",
        "t/grades.csv --model new --target labels --labels t/labels.csv --width 0.15",
        "t/grades.csv --model new --target labels --labels t/labels.csv --width 0.15 --ids {out}/to-label.csv",
        "t/grades.csv --target labels --labels t/labels.csv --width 0.2",
        "t/grades.csv --target labels --labels t/labels.csv --difference 0.1",
        "m/binary.csv --target labels --labels m/labels.csv --width 0.2",
        "t/summaries.csv --column metric=grader --target graders --budget 150 --ids {out}/to-grade.csv",
        "t/summaries.csv --column metric=grader --target graders --budget 60",
    ):
        yield f"plan {source}"
    for source in (
        "nightly=t/nightly",
        "nightly=t/nightly --level 0.99",
        "nightly=t/nightly --fail-if-changed",
        "d/lm-eval/scripted-large",
        "m/runs",
    ):
        yield f"history {source}"
    for source in (
        "m/runs",
        "m/runs --generalize-over question,prompt",
        "m/runs --factor wording=system_instruction_sha --level 0.8",
        "m/runs --task task_000",
        "m/nested.csv",
        "t/summaries.csv --column metric=grader",
        "z/inspect/popularity_5epochs_3models",
    ):
        yield f"effects {source}"
    for source in (
        "t/grades.csv --labels t/labels.csv",
        "t/grades.csv --labels t/labels.csv --same-family old",
        "t/grades.csv --labels t/labels.csv --level 0.8",
        "t/grades.csv --labels t/labels_new.csv",
        "t/summaries.csv --column metric=grader",
        "m/judged.csv --column metric=grader --labels human",
        "m/judged.csv --column metric=grader --labels human --cluster passage_id --same-family new",
        "m/binary.csv --labels m/labels.csv --by kind",
        "m/binary.csv --labels m/labels.csv",
    ):
        yield f"grader {source}"
    for source in (
        "d/lm-eval",
        "d/inspect",
        "z/inspect",
        "z/lm_eval",
        "t/answers.csv",
        "m/nested.csv --check",
        "m/missing_trials.csv",
        "m/clusters.csv --cluster none",
        "m/real.csv --range score=0,40",
        "z/csv/no_clt_paper/matharena_aime_II.csv",
        "z/csv/no_clt_paper/matharena_aime_II.csv --suggest-mapping",
    ):
        yield f"structure {source}"
    yield "watch d/inspect --once --format json"
    yield "watch d/inspect --once --scope full --level 0.8 --format json"
    yield "watch z/inspect/popularity_5epochs_3models --once --format json"
    yield "plugins --format json"


RESULTS = {
    "estimate": ("m/tasks.csv", "m/missing.csv --missing bounds", "m/trials.csv --by kind"),
    "compare": (
        "m/tasks.csv --baseline a --per-task --task algebra --task law",
        "m/missing.csv --model one --model two --missing bounds",
    ),
    "rank": ("m/tasks.csv --per-task", "m/clusters.csv"),
    "gate": ("m/tasks.csv --model a --at-least algebra=0.5",),
    "plan": ("m/binary.csv --difference 0.1", "m/trials.csv --model one --width 0.1"),
    "report": ("m/binary.csv",),
    "history": ("nightly=t/nightly",),
    "grader": ("t/grades.csv --labels t/labels.csv", "t/summaries.csv --column metric=grader"),
    "effects": ("m/runs",),
    "structure": ("m/nested.csv",),
}


def _formats() -> Iterator[str]:
    for command, sources in RESULTS.items():
        for source, form in product(sources, ("table", "csv")):
            yield f"{command} {source} --format {form}"
        for form in ("markdown", "latex"):
            yield f"{command} {sources[0]} --format {form}"
        if command not in ("gate", "grader", "effects", "structure"):
            yield f"{command} {sources[0]} --format html"
    for form in ("junit", "github"):
        yield f"gate m/tasks.csv --model a --at-least algebra=0.5 --format {form}"
    yield "gate m/tasks.csv --model a --at-least algebra=0.5 --annotations {out}/annotations --output {out}/gate.xml"
    yield "estimate d/lm-eval --task demo_passages --format eee"
    for command, columns in product(("estimate", "compare", "rank"), ("all", "system,score")):
        yield f"{command} {RESULTS[command][0]} --format table --columns {columns}"
    for command in ("estimate", "compare", "rank"):
        yield f"{command} {RESULTS[command][0]} --format table --percent --digits 2"
        yield f"{command} {RESULTS[command][0]} --output {{out}}/result.json --format json"
        yield f"{command} {RESULTS[command][0]} --output {{out}}/result.md"
    for command in ("estimate", "rank"):
        yield f"{command} {RESULTS[command][0]} --format latex --layout grid --latex-label tab:x --latex-caption Text"
    for form in ("table", "csv", "markdown"):
        yield f"estimate m/resources.csv --resources --format {form}"
        yield f"compare m/resources.csv --model one --model two --resources --format {form}"
        yield f"plan t/grades.csv --target labels --labels t/labels.csv --width 0.2 --format {form}"
        yield f"plan t/summaries.csv --column metric=grader --target graders --budget 150 --format {form}"
        yield f"gate m/trials.csv --model one --self-test --margin 0.1 --n-simulations 20 --format {form}"
    yield "plan --reference-runs m/reference.csv --width 0.1 --format csv"
    yield "compare m/binary.csv --disagreements 3 --format table"
    yield "watch d/inspect --once --format text"


def _errors() -> Iterator[str]:
    yield from (
        "estimate nothing.csv",
        "estimate m/binary.csv --method nope",
        "estimate m/binary.csv --level 2",
        "estimate m/binary.csv --task none",
        "estimate m/binary.csv --cluster nothing",
        "estimate m/binary.csv --by nothing",
        "estimate m/binary.csv --estimand pass@3",
        "estimate m/binary.csv --labels m/labels.csv --by kind",
        "compare m/many.csv",
        "compare m/many.csv --baseline z",
        "compare m/binary.csv --model new",
        "compare m/binary.csv --method wilson",
        "compare m/binary.csv --margin -1",
        "rank m/binary.csv --model new",
        "rank m/binary.csv --method t",
        "gate m/binary.csv",
        "gate m/binary.csv --margin 0.1",
        "gate m/many.csv --baseline m/many.csv --margin 0.1",
        "plan m/binary.csv",
        "plan m/many.csv --difference 0.1",
        "grader m/binary.csv",
        "effects m/binary.csv",
        "history nothing",
        "cite nothing.json",
        "subset bench --n 10 --ids {out}/ids.json",
        "nonsense",
        "estimate z/csv/no_clt_paper/matharena_aime_II.csv",
    )


SEQUENCES = (
    (
        "subset bench --reference-runs m/reference.csv --n 20 --ids {out}/ids.json",
        "estimate m/part.csv --scope full --reference-runs m/reference.csv --inclusion-probabilities "
        "{out}/ids.drawn.json",
    ),
    ("subset bench --reference-runs m/reference.csv --n 20 --design uniform --ids {out}/uniform.json",),
    ("subset bench --reference-runs m/reference.csv --n 20 --design informative --ids {out}/informative.json",),
    (
        "subset bench --reference-runs m/reference.csv --n 20 --ids {out}/first.json",
        "subset bench --reference-runs m/reference.csv --n 15 --after m/part.csv --inclusion-probabilities "
        "{out}/first.drawn.json --ids {out}/more.json",
    ),
    ("estimate m/tasks.csv --output {out}/e.json", "cite {out}/e.json"),
    ("compare m/nested.csv --output {out}/c.json", "cite {out}/c.json --bib {out}/references.bib"),
    ("rank m/graded.csv --output {out}/r.json", "cite {out}/r.json"),
    ("report d/lm-eval --output {out}/p.json", "cite {out}/p.json"),
    (
        "estimate d/lm-eval --task demo_passages --store {out}/store",
        "estimate d/lm-eval --task demo_passages --store {out}/store --jobs 1",
    ),
    ("estimate d/lm-eval --store {out}/store", "store ls {out}/store"),
    ("estimate d/lm-eval --store {out}/store", "compare d/lm-eval --store {out}/store"),
    ("estimate d/inspect --store {out}/store", "rank d/inspect --store {out}/store"),
    ("estimate d/inspect --store {out}/store", "store verify {out}/store"),
    ("estimate d/inspect --jobs 2",),
    ("compare d/lm-eval --jobs 2",),
    ("rescore d/lm-eval --output-dir {out}/rescored", "estimate {out}/rescored"),
    ("rescore d/inspect --output-dir {out}/rescored --method t", "compare {out}/rescored"),
    ("rescore z/inspect/popularity_5epochs_3models --output-dir {out}/rescored", "rank {out}/rescored"),
    ("rescore d/lm-eval --output-dir {out}/records --format eee", "estimate {out}/records"),
)


def _shared() -> Iterator[Case]:
    """Logs of other formats, which are beside the repository on some machines."""
    for source in (
        "s/formats/every_eval_ever",
        "s/formats/harbor_tb",
        "s/formats/helm",
        "s/formats/lighteval",
        "s/formats/promptfoo",
        "s/formats/terminal_bench",
        "s/formats_agents/inspect_agent",
        "s/formats_agents/lm_eval_groups",
    ):
        yield _case(f"estimate {source}", shared=True)
    for command in ("rank", "compare"):
        yield _case(f"{command} s/formats_agents/lm_eval_groups", shared=True)
        yield _case(f"{command} s/formats/terminal_bench", shared=True)


# arrays


def _binary(rng: random.Random, n: int, n_trials: int, ability: float) -> list[list[float]]:
    chances = [min(0.97, max(0.03, rng.gauss(ability, 0.25))) for _ in range(n)]
    return [[float(rng.random() < p) for _ in range(n_trials)] for p in chances]


def _graded(rng: random.Random, n: int, n_trials: int, ability: float) -> list[list[float]]:
    return [[round(min(1, max(0, rng.gauss(ability, 0.25))), 3) for _ in range(n_trials)] for _ in range(n)]


def _wide(rng: random.Random, n: int, n_trials: int, ability: float) -> list[list[float]]:
    return [[round(rng.gauss(10 * ability, 4) + rng.expovariate(0.3), 3) for _ in range(n_trials)] for _ in range(n)]


KINDS: dict[str, tuple[Callable[..., list[list[float]]], dict[str, Any]]] = {
    "binary": (_binary, {}),
    "graded": (_graded, {"range": (0.0, 1.0)}),
    "graded without range": (_graded, {}),
    "real": (_wide, {}),
}
SHAPES = {"20": (20, 1, 0), "60": (60, 1, 0), "24x3": (24, 3, 0), "40 in 10 clusters": (40, 1, 4)}
SHAPES |= {"24x2 in 8 clusters": (24, 2, 3)}


def _arrays(kind: str, shape: str, n_systems: int, share_missing: float) -> tuple[list[Any], list[int] | None]:
    """Seeded scores of systems, and labels of clusters."""
    n, n_trials, size = SHAPES[shape]
    rng = random.Random(f"{kind} {shape} {n_systems} {share_missing}")
    make = KINDS[kind][0]
    arrays = []
    for k in range(n_systems):
        rows = make(rng, n, n_trials, 0.7 - 0.08 * k)
        rows = [[float("nan") if rng.random() < share_missing else value for value in row] for row in rows]
        arrays.append([row[0] for row in rows] if n_trials == 1 else rows)
    return arrays, [i // size for i in range(n)] if size else None


def _call(
    function: str, kind: str, shape: str, n_systems: int, missing: float, options: Mapping[str, object], seed: int
) -> object:
    import harness_uq

    arrays, clusters = _arrays(kind, shape, n_systems, missing)
    keywords = {**KINDS[kind][1], **options, "clusters": clusters, "seed": seed}
    if function == "rank_scores":
        result: Any = harness_uq.rank_scores({f"s{k}": values for k, values in enumerate(arrays)}, **keywords)
    else:
        result = getattr(harness_uq, function)(*arrays, **keywords)
    return result.to_dict()


def _calls() -> Iterator[Case]:
    grids: dict[str, tuple[tuple[int, ...], tuple[dict[str, object], ...]]] = {
        "estimate_scores": ((1,), ({}, {"scope": "benchmark", "interval": "hdi", "level": 0.8})),
        "compare_scores": (
            (2,),
            ({}, {"method": "t", "margin": 0.05}, {"scope": "benchmark", "level": 0.9}),
        ),
        "rank_scores": ((2, 3, 6), ({}, {"scope": "benchmark"})),
    }
    for function, (numbers, all_options) in grids.items():
        for n_systems, kind, shape, options in product(numbers, KINDS, SHAPES, all_options):
            if n_systems == 6 and (options or shape not in ("20", "40 in 10 clusters")):
                continue
            if n_systems == 2 and options:
                continue
            missing = 0.1 if kind == "binary" and shape in ("60", "24x3") else 0.0
            words = [function, *([str(n_systems)] if n_systems > 1 else []), kind, shape]
            words += [f"{name}={value}" for name, value in options.items()]
            call = partial(_call, function, kind, shape, n_systems, missing, options)
            yield Case(" ".join(words), call=call)
