"""promptfoo: exported evaluations (JSON, versions 2 and 3), and lists of results (JSON Lines).

A result is a trial of a test with a prompt and a provider, which together are the system. Repeats of a test differ in
`testIdx`, so a question is identified by its variables, assertions and description.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Any, Final, Generic, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

import harness_uq.plugin_api as uq
from harness_uq_formats.json_files import content_of, decode, decoded_lines, head_of
from harness_uq_formats.log_parts import TrialGrid, differences, known_amounts, metadata_fields
from harness_uq_formats.messages import ERRORS_COUNT_AS_ZERO, QUESTIONS_NOT_IDENTIFIED, VERSION_NOT_SUPPORTED

NAME: Final = "promptfoo"
VERSIONS: Final = (2, 3)
_ERROR: Final = 2
_RUNTIME_VARS: Final = frozenset(
    {"_conversation", "sessionId"}
)  # promptfoo adds them to the variables while it runs a test
_ROW_NUMBER: Final = re.compile(r"Row #\d+")  # description that promptfoo gives to a row of a table of tests
_LONGEST_LABEL: Final = 80
_LONGEST_VALUE: Final = 200
_ROW_MEMBERS: Final = (b'"gradingResult"', b'"latencyMs"', b'"namedScores"', b'"promptIdx"')
_N_ROW_MEMBERS: Final = 3  # long prompts and answers can move the others out of the first bytes
_VERSION: Final = re.compile(rb'"results"\s*:\s*\{\s*"version"\s*:\s*(\w+)')


class Provider(msgspec.Struct, gc=False):
    """`provider` of a result."""

    id: str | None = None
    label: str | None = None


class Prompt(msgspec.Struct, gc=False):
    """`prompt` of a result; old versions have `display` instead of `label`."""

    label: str | None = None
    display: str | None = None

    @property
    def name(self) -> str:
        """The label, which can be the text of the prompt with its variables; empty if there is none."""
        return self.label or self.display or ""


class Options(msgspec.Struct, gc=False):
    """Options of an evaluation or of a test."""

    repeat: int | None = None


class TestCase(msgspec.Struct, gc=False, rename={"asserts": "assert"}):
    """`testCase` of a result, without the variables, which the result repeats."""

    asserts: Any = None
    description: str | None = None
    metadata: Any = None
    options: Options | None = None


_encode: Final = msgspec.json.Encoder(order="sorted").encode
_NO_TEST: Final = TestCase()


class TokenDetails(msgspec.Struct, gc=False):
    """`completionDetails` of `tokenUsage`."""

    reasoning: float | None = None


class Tokens(msgspec.Struct, gc=False, rename={"details": "completionDetails"}):
    """`tokenUsage` of a result or of its response."""

    prompt: float | None = None
    completion: float | None = None
    details: TokenDetails | None = None


class Response(msgspec.Struct, gc=False):
    """`response` of a result, without the answer. `cached`: whether the answer came from a cache."""

    cached: Any = None


class ResponseWithUsage(Response, gc=False, rename={"tokens": "tokenUsage"}):
    """`response` of a result with its tokens."""

    tokens: Tokens | None = None


class Grading(msgspec.Struct, gc=False):
    """`gradingResult` of a result, of which only the presence is used."""


class Result(msgspec.Struct, gc=False, rename="camel"):
    """A result."""

    provider: Provider | str | None = None
    prompt: Prompt | str | None = None
    prompt_id: str | None = None
    prompt_idx: int | None = None
    test_idx: int | None = None
    vars: Any = None
    test_case: TestCase | None = None
    description: str | None = None
    score: float | None = None
    success: bool | None = None
    named_scores: dict[str, float | None] | None = None
    failure_reason: int | None = None
    grading_result: Grading | None = None
    error: Any = None
    response: Response | str | None = None

    @property
    def is_cached(self) -> bool:
        """Whether the answer came from a cache."""
        return isinstance(self.response, Response) and self.response.cached is True

    @property
    def is_error(self) -> bool:
        """Whether the test failed for another reason than its assertions; version 2 does not record the reason."""
        if self.failure_reason is not None:
            return self.failure_reason == _ERROR
        return bool(self.error) and self.grading_result is None


class ResultWithUsage(Result, gc=False, rename="camel"):
    """A result with what it used."""

    cost: float | None = None
    latency_ms: float | None = None
    token_usage: Tokens | None = None
    response: ResponseWithUsage | str | None = None

    @property
    def tokens(self) -> Tokens | None:
        """Tokens of the answer if they are recorded, else of the answer and its grading."""
        answer = self.response.tokens if isinstance(self.response, ResponseWithUsage) else None
        return answer or self.token_usage


class Metrics(msgspec.Struct, gc=False, rename="camel"):
    """The totals of a prompt and provider."""

    score: float | None = None
    test_pass_count: int | None = None
    test_fail_count: int | None = None
    test_error_count: int | None = None
    named_scores: dict[str, float | None] | None = None
    named_scores_count: dict[str, float | None] | None = None

    @property
    def n_tests(self) -> int:
        """Number of results, including errors."""
        return (self.test_pass_count or 0) + (self.test_fail_count or 0) + (self.test_error_count or 0)


Row = TypeVar("Row", bound=Result)


class Column(msgspec.Struct, gc=False):
    """An entry of `prompts`."""

    metrics: Metrics | None = None


class TableHead(msgspec.Struct, gc=False):
    """`head` of the table of version 2."""

    prompts: list[Column] | None = None


class Table(msgspec.Struct, gc=False):
    """`table` of version 2."""

    head: TableHead | None = None


class Results(msgspec.Struct, Generic[Row]):
    """`results` of an evaluation."""

    results: list[Row]
    timestamp: str | None = None
    prompts: list[Column] | None = None
    table: Table | None = None


class Config(msgspec.Struct, rename={"evaluate_options": "evaluateOptions"}):
    """`config` of an evaluation."""

    description: str | None = None
    tests: Any = None
    evaluate_options: Options | None = None


class Metadata(msgspec.Struct, gc=False, rename={"version": "promptfooVersion"}):
    """`metadata` of an evaluation."""

    version: str | None = None


class Evaluation(msgspec.Struct, Generic[Row], rename="camel"):
    """An exported evaluation."""

    results: Results[Row]
    eval_id: str | None = None
    config: Config | None = None
    metadata: Metadata | None = None
    runtime_options: Options | None = None


class _Version(msgspec.Struct, gc=False):
    version: Any = None


class _Outline(msgspec.Struct, gc=False):
    results: _Version


class Question(msgspec.Struct, gc=False):
    """What identifies a question.

    `id`: hash of the content. `fields`: variables and metadata. `is_identified`: whether the content has variables or a
    description.
    """

    id: str
    fields: dict[str, object]
    is_identified: bool


@dataclass(slots=True)
class System:
    """The results of one prompt and provider."""

    results: list[Result] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)

    @property
    def column(self) -> int:
        """Number of the prompt and provider; -1 if it is not recorded."""
        column = self.results[0].prompt_idx
        return -1 if column is None else column

    @property
    def ordered(self) -> list[tuple[Result, Question]]:
        """Results in the order of the tests; in files they have no order."""
        pairs = zip(self.results, self.questions, strict=True)
        return sorted(pairs, key=lambda pair: -1 if pair[0].test_idx is None else pair[0].test_idx)


# ---------------------------------------------------------------- files


def find(files: Sequence[str]) -> uq.Discovery:
    """A run for each exported evaluation and each list of results."""
    runs, others, problems = list[uq.Run](), list[str](), list[tuple[str, uq.Message | str]]()
    for path in files:
        try:
            is_ours = path.endswith((".json", ".jsonl")) and _is_promptfoo(path)
        except uq.LogError as error:
            problems.append((path, error.message))
            continue
        if is_ours:
            runs.append(uq.Run(path, (path,)))
        else:
            others.append(path)
    return uq.Discovery(tuple(runs), tuple(others), tuple(problems))


def _is_promptfoo(path: str) -> bool:
    """Whether a file contains results of promptfoo. Raises LogError if it looks like results of promptfoo, but is of
    another version or damaged.
    """
    head = head_of(path)
    if path.endswith(".jsonl"):
        return head.lstrip()[:1] == b"{" and sum(name in head for name in _ROW_MEMBERS) >= _N_ROW_MEMBERS
    is_object = head.lstrip()[:1] == b"{"
    if not is_object or b'"results"' not in head or not (b'"evalId"' in head or b'"promptIdx"' in head):
        return False
    match = _VERSION.search(head)
    version = match[1].decode() if match else json.dumps(decode(content_of(path), _Outline).results.version)
    if version not in map(str, VERSIONS):
        raise uq.LogError(VERSION_NOT_SUPPORTED(tool=NAME, field="results.version", version=version, known=VERSIONS))
    return True


def read(run: uq.Run, *, with_resources: bool = False) -> Iterator[uq.TaskLog]:
    """The tasks of the run, one for each prompt and provider. Raises LogError if the file cannot be read, or its
    questions cannot be identified.
    """
    (path,) = run.files
    if with_resources:
        yield from _read(path, ResultWithUsage, Evaluation[ResultWithUsage])
    else:
        yield from _read(path, Result, Evaluation[Result])


def _read(path: str, row: type[Row], whole: type[Evaluation[Row]]) -> Iterator[uq.TaskLog]:
    if path.endswith(".jsonl"):
        yield from task_logs(decoded_lines(path, row), Evaluation(Results([])), path)
    else:
        evaluation = decode(content_of(path), whole)
        yield from task_logs(evaluation.results.results, evaluation, path)


# ---------------------------------------------------------------- task logs


def task_logs(results: Iterable[Row], evaluation: Evaluation[Row], path: str) -> Iterator[uq.TaskLog]:
    """The tasks of an evaluation, one for each prompt and provider. Raises LogError if there are no results, or the
    questions cannot be identified.
    """
    systems, questions = dict[tuple[object, ...], System](), dict[bytes, Question]()
    for result in results:
        key = _system_key(result)
        system = systems.get(key)
        if system is None:
            system = systems[key] = System()
        system.results.append(result)
        system.questions.append(_question(result, questions))
        # texts of tests are most of the memory
        result.vars = None
        if result.test_case is not None:
            result.test_case.asserts = result.test_case.metadata = None
    if not systems:
        raise uq.LogError("the evaluation has no results")
    ordered = sorted(systems.values(), key=lambda system: (system.column, _full_name(system.results[0])))
    names = distinct_names([system.results[0] for system in ordered])
    for system, name in zip(ordered, names, strict=True):
        _check_questions(system, evaluation)
        metrics = _totals(evaluation.results, system.column)
        yield _task_log(system, name, evaluation, metrics, path)


def _system_key(result: Result) -> tuple[object, ...]:
    """What the results of one prompt and provider have in common."""
    provider, prompt = result.provider, result.prompt
    if isinstance(provider, Provider):
        provider = provider.label or provider.id
    if isinstance(prompt, Prompt):
        prompt = prompt.label or prompt.display
    return result.prompt_idx, provider, prompt, result.prompt_id


def _question(result: Result, known: dict[bytes, Question]) -> Question:
    """The question of a result, from those that are known or added to them."""
    case = result.test_case or _NO_TEST
    variables = result.vars
    if not isinstance(variables, dict):
        variables = {}
    elif not _RUNTIME_VARS.isdisjoint(variables):
        variables = {name: value for name, value in variables.items() if name not in _RUNTIME_VARS}
    description = case.description or result.description
    if description is not None and _ROW_NUMBER.fullmatch(description):
        description = None
    content = _encode([variables, case.asserts or [], description])
    if rb"\r\n" in content:  # from Windows
        content = content.replace(rb"\r\n", rb"\n")
    digest = sha256(content).digest()
    question = known.get(digest)
    if question is None:
        fields = {name: _field_value(value) for name, value in variables.items()}
        if isinstance(case.metadata, dict):
            fields |= {f"metadata.{name}": _field_value(value) for name, value in case.metadata.items()}
        question = Question(digest[:8].hex(), fields, bool(variables) or description is not None)
        known[digest] = question
    return question


def _field_value(value: object) -> object:
    """A value of a field; of a long text only what tells it from others."""
    if isinstance(value, str) and len(value) > _LONGEST_VALUE:
        return f"{value[:_LONGEST_VALUE]} {hash(value)}"
    return value


def _check_questions(system: System, evaluation: Evaluation[Row]) -> None:
    """Make sure that results without variables are repeats of one test. Raises LogError if there are more of them than
    repeats, because a setting removed the variables from the file.
    """
    if all(question.is_identified for question in system.questions):
        return
    pairs = zip(system.results, system.questions, strict=True)
    unidentified = [result for result, question in pairs if not question.is_identified]
    if len(unidentified) > max(_n_repeats(result, evaluation) for result in unidentified):
        raise uq.LogError(QUESTIONS_NOT_IDENTIFIED(n_results=len(unidentified)))


def _n_repeats(result: Result, evaluation: Evaluation[Row]) -> int:
    """How often the test was run."""
    of_test = result.test_case.options if result.test_case else None
    of_config = evaluation.config.evaluate_options if evaluation.config else None
    options = (of_test, of_config, evaluation.runtime_options)
    return max((one.repeat for one in options if one and one.repeat), default=1)


def _provider(result: Result) -> Provider:
    return result.provider if isinstance(result.provider, Provider) else Provider(result.provider)


def _provider_name(result: Result) -> str:
    return _provider(result).label or _provider(result).id or "unknown provider"


def _prompt_name(result: Result) -> str:
    prompt = result.prompt
    return prompt_name(prompt.name if isinstance(prompt, Prompt) else prompt or "", result.prompt_id)


@lru_cache
def prompt_name(label: str, digest: str | None) -> str:
    """The label of a prompt; if it is the text of the prompt, the name of its file or its hash."""
    if label and len(label) <= _LONGEST_LABEL and not any(mark in label for mark in ("{{", "{%", "\n")):
        return label
    file_name, colon, _ = label.partition(": ")
    if colon and PurePosixPath(file_name).suffix and " " not in file_name:
        return file_name
    return f"prompt {(digest or sha256(label.encode(errors='surrogatepass')).hexdigest())[:8]}"


def _full_name(result: Result) -> str:
    return f"{_provider_name(result)}, {_prompt_name(result)}"


def distinct_names(results: Sequence[Result]) -> list[str]:
    """Name of the system of each result: the provider, and the prompt if there are several."""
    has_one_prompt = len(set(map(_prompt_name, results))) == 1
    names, n_seen = [], dict[str, int]()
    for result in results:
        name = _provider_name(result) if has_one_prompt else _full_name(result)
        n_seen[name] = n_seen.get(name, 0) + 1
        names.append(name if n_seen[name] == 1 else f"{name} #{n_seen[name]}")
    return names


def _totals(results: Results[Row], column: int) -> Metrics | None:
    """What promptfoo reports for a column of its table; -1 stands for a result without a column."""
    columns = results.prompts or (results.table and results.table.head and results.table.head.prompts) or []
    return columns[column].metrics if 0 <= column < len(columns) else None


def _task_log(system: System, name: str, evaluation: Evaluation[Row], metrics: Metrics | None, path: str) -> uq.TaskLog:
    grid, results, fields = TrialGrid(), list[Result](), dict[str, dict[str, object]]()
    for result, question in system.ordered:
        grid.add(question.id)
        results.append(result)
        fields.setdefault(question.id, question.fields)
    scores = tuple(_scores(grid, results))
    n_trials = max(len(results) // len(grid.questions), 1)
    reported = _reported(metrics, n_trials) if metrics and metrics.n_tests > 0 else {}
    messages = list[uq.Message]()
    n_errors = sum(result.is_error for result in results)
    if n_errors:
        messages.append(ERRORS_COUNT_AS_ZERO(tool=NAME, n_errors=n_errors, n_trials=len(results)))
    for data in scores:
        total = reported.get((data.metric, data.filter))
        if total is not None and metrics is not None and metrics.n_tests == len(results):
            messages += differences(data.metric, data.values[np.isfinite(data.values)].tolist(), total.value, NAME)
    first = system.results[0]
    return uq.TaskLog(
        system=name,
        task=_task(evaluation, path),
        source=uq.Source(
            path,
            NAME,
            evaluation.metadata.version if evaluation.metadata else None,
            evaluation.results.timestamp,
            attempt=_attempt(evaluation, name, scores),
        ),
        questions=uq.Questions(grid.questions, grid.questions, metadata_fields(list(fields.values()))),
        data=scores,
        reported=reported,
        facts=uq.RunMetadata(
            n_cached=sum(result.is_cached and column > 0 for result, column in zip(results, grid.columns, strict=True)),
            settings={"provider": _provider(first).id, "prompt": _prompt_name(first)},
        ),
        messages=tuple(messages),
        resources=_resources(grid, results),
        ended_by=grid.endings("error" if result.is_error else "completed" for result in results),
    )


def _task(evaluation: Evaluation[Row], path: str) -> str:
    """The description of the evaluation; without one, the names of the files of its tests, which systems share."""
    if evaluation.config is None:
        return PurePosixPath(uq.paths.name_of(path)).stem
    tests = evaluation.config.tests
    files = [test for test in (tests if isinstance(tests, list) else [tests]) if isinstance(test, str)]
    names = [PurePosixPath(file.removeprefix("file://")).stem for file in files]
    return evaluation.config.description or "+".join(filter(None, names)) or NAME


def _scores(grid: TrialGrid, results: Sequence[Result]) -> Iterator[uq.Scores]:
    """Whether the tests passed, their scores, and their named scores."""
    named = dict.fromkeys(name for result in results for name in result.named_scores or ())
    uq.check_cells(len(results), len(named), uq.MAX_SCORES)
    arrays = {
        "success": grid.matrix(result.success for result in results),
        "score": grid.matrix(result.score for result in results),
    }
    for name in named:
        metric = f"{name} (named)" if name in arrays else name
        arrays[metric] = grid.matrix((result.named_scores or {}).get(name) for result in results)
    for metric, values in arrays.items():
        scored = values[np.isfinite(values)]
        if not scored.size:
            continue
        is_share = bool(scored.min() >= 0 and scored.max() <= 1)
        is_constant = bool(scored.min() == scored.max())
        yield uq.Scores(
            metric,
            "none",
            values,
            levels=(0.0, 1.0) if metric == "success" else None,
            logged_trials=values.shape[1],
            reduction="mean" if values.shape[1] > 1 else None,
            bounds=(0.0, 1.0) if is_share else None,
            bounds_source="the usual range of assertions" if is_share and is_constant and metric != "success" else None,
            is_complete=len(scored) == len(results),
        )


def _attempt(evaluation: Evaluation[Row], system: str, scores: Sequence[uq.Scores]) -> uq.Attempt | None:
    """What identifies copies of an evaluation; lists of results do not contain its identifier."""
    if not evaluation.eval_id or not scores:
        return None
    content = sha256(b"".join(data.values.tobytes() for data in scores)).hexdigest()
    run = f"{evaluation.eval_id} {system}"
    return uq.Attempt(run, run, is_finished=True, n_trials=int(np.isfinite(scores[0].values).sum()), content=content)


def _reported(metrics: Metrics, n_trials: int) -> dict[tuple[str, str], uq.HarnessResult]:
    """The averages of promptfoo, in which errors count as tests that did not pass and have score 0."""
    n_questions = metrics.n_tests // n_trials
    reported = {("success", "none"): uq.HarnessResult((metrics.test_pass_count or 0) / metrics.n_tests, n=n_questions)}
    if metrics.score is not None:
        reported["score", "none"] = uq.HarnessResult(metrics.score / metrics.n_tests, n=n_questions)
    for name, total in (metrics.named_scores or {}).items():
        count = (metrics.named_scores_count or {}).get(name)
        if total is not None and count:
            reported.setdefault((name, "none"), uq.HarnessResult(total / count))
    return reported


def _resources(grid: TrialGrid, given: Sequence[Result]) -> uq.Resources | None:
    """Tokens, cost and time of the results; None if they were not read."""
    results = [result for result in given if isinstance(result, ResultWithUsage)]
    if len(results) < len(given):
        return None

    def array(value_of: Callable[[Tokens], float | None]) -> NDArray[np.float64] | None:
        return known_amounts(grid.matrix(value_of(result.tokens) if result.tokens else None for result in results))

    cost = known_amounts(grid.matrix(result.cost for result in results))
    usage = uq.TokenUsage(
        _provider(results[0]).id or _provider_name(results[0]),
        input_tokens=array(lambda tokens: tokens.prompt),
        output_tokens=array(lambda tokens: tokens.completion),
        reasoning_tokens=array(lambda tokens: tokens.details.reasoning if tokens.details else None),
        # providers without prices have a cost of 0
        cost=cost if cost is not None and np.nansum(cost) > 0 else None,
    )
    return uq.Resources(
        (usage,),
        total_time=known_amounts(grid.matrix(result.latency_ms for result in results) / 1000),
        is_grader_separate=all(
            isinstance(result.response, ResponseWithUsage) and result.response.tokens
            for result in results
            if result.tokens and (result.tokens.prompt or result.tokens.completion)
        ),
    )
