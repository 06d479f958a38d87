"""All options of analyses, each declared once: keyword, argument of the command line, and key of the settings file.

`Options` holds the values of one analysis. The metadata of its fields is their declaration, from which follow the
keywords of each function (`options_typed.py` contains their types), the arguments of each command and the keys of the
settings file. An argument takes precedence over the settings file, and the settings file over the default;
`options_from_arguments` is the only function that decides this. `LIVE_OPTIONS` are the options of a harness run.
"""
# ruff: noqa: A002, RUF009 -- `range` and `filter` are names of options, and their declarations are calls

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, InitVar, dataclass, field, replace
from functools import cache, partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, get_args

from harness_uq.data.estimands import Scope, parse_estimand
from harness_uq.messages.errors import DataError, UsageError, unknown_name
from harness_uq.messages.similar_names import suggestion

if TYPE_CHECKING:
    from harness_uq.data.log_filter import Selection
    from harness_uq.data.missing_scores import MissingPolicy
    from harness_uq.data.structure import StructureOptions

T = TypeVar("T")
CompareMethod = Literal["bayes", "dirichlet", "robust", "latent-normal", "t", "independent"]
CredibleKind = Literal["hdi", "quantile"]
Correction = Literal["holm", "bh"]
MissingTasks = Literal["common", "drop-system", "error"]
Normalization = Literal["none", "chance"]
WEIGHT_SCHEMES = ("equal", "questions", "group", "subtasks")
OVERALL = "overall"
_METHODS_OF_BENCHMARK = {"bayes@n": "bayes-at-n", "avg@n": "avg-at-n"}


class Rule(NamedTuple):
    """How a value is converted, and a description of its valid values."""

    convert: Callable[[object], object]
    valid: str


def one_of(*values: object) -> Rule:
    """The rule of an option with a few valid values."""

    def convert(value: object) -> object:
        if value not in values:
            raise ValueError
        return value

    *others, last = map(str, values)
    return Rule(convert, f"{', '.join(others)} or {last}")


def _number(value: object, is_valid: Callable[[float], bool]) -> float:
    if isinstance(value, bool) or not isinstance(value, Real | str) or not is_valid(float(value)):
        raise ValueError
    return float(value)


def _whole(value: object, smallest: int) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral | str) or int(value) < smallest:
        raise ValueError
    return int(value)


def text(value: object) -> str:
    """A text that is not empty."""
    if not isinstance(value, str) or not value:
        raise ValueError
    return value


def texts(value: object) -> tuple[str, ...]:
    """A list of texts."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise TypeError
    return tuple(map(text, value))


def _text_or_texts(value: object) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) and value else texts(value)


def _range(value: object) -> tuple[float, float]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise TypeError
    low, high = (_number(end, math.isfinite) for end in value)
    if not low < high:
        raise ValueError
    return low, high


def _clusters(value: object) -> tuple[str, ...]:
    """Any number of FIELD or TASK=FIELD, from `a`, `[a, t=b]` or `{t: b}`."""
    if isinstance(value, Mapping):
        return tuple(f"{task}={name}" for task, name in value.items())
    return (value,) if isinstance(value, str) else tuple(map(text, value))  # type: ignore[call-overload]


def table_of(convert: Callable[[object], object]) -> Callable[[object], object]:
    """The conversion of a table, each of whose values is converted."""

    def convert_all(value: object) -> object:
        if not isinstance(value, dict):
            raise TypeError
        return {name: convert(item) for name, item in value.items()}

    return convert_all


def _weights(value: object) -> object:
    """A scheme, or a table of numbers of at least 0, not all of them 0."""
    if isinstance(value, str):
        return one_of(*WEIGHT_SCHEMES).convert(value)
    weights = table_of(NOT_NEGATIVE.convert)(value)
    if not any(weights.values()):  # type: ignore[attr-defined]
        raise ValueError
    return weights


def _improvements(value: object) -> dict[str | None, object]:
    """One improvement for all scores, or a table by task or metric."""
    given: Mapping[str | None, object] = value if isinstance(value, Mapping) else {None: value}
    return {name: MARGIN.convert(improvement) for name, improvement in given.items()}


LEVEL = Rule(partial(_number, is_valid=lambda p: 0 < p < 1), "a number between 0 and 1, such as 0.95")
MARGIN = Rule(partial(_number, is_valid=lambda d: 0 <= d < math.inf), "the smallest difference that matters, 0 or more")
BOUND = Rule(partial(_number, is_valid=math.isfinite), "a number, such as 0.8")
CHANCE = Rule(partial(_number, is_valid=lambda p: 0 <= p < 1), "a number from 0 to 1, such as 0.25")
SHARE = Rule(partial(_number, is_valid=lambda p: 0 <= p <= 1), "a number from 0 to 1, such as 0.1")
SCORE = LEVEL._replace(valid="a number between 0 and 1, such as 0.8")
CORRELATION = Rule(partial(_number, is_valid=lambda r: -1 <= r <= 1), "a number from -1 to 1")
POSITIVE = Rule(partial(_number, is_valid=lambda x: 0 < x < math.inf), "a number above 0")
NOT_NEGATIVE = Rule(partial(_number, is_valid=lambda x: 0 <= x < math.inf), "a number, 0 or more")
COUNT = Rule(partial(_whole, smallest=1), "a whole number, 1 or more")
SEED = Rule(partial(_whole, smallest=0), "a whole number, 0 or more")
RANGE = Rule(_range, "a pair of numbers, the lower first")
NAMES = Rule(_text_or_texts, "a name, or several names")

Read = Callable[[str], object]


def _is_valid(rule: Rule, value: object) -> bool:
    """Whether a value of Python code is valid; a text is no number."""
    try:
        converted = rule.convert(value)
    except (TypeError, ValueError):
        return False
    return not (isinstance(value, str) and isinstance(converted, Real))


def _invalid(text: str, valid: str) -> ValueError:
    return ValueError(f"invalid value {text!r}. Give {valid}.")


def read_value(rule: Rule, text: str) -> object:
    """The value of an argument. Raises ValueError if it is invalid."""
    try:
        return rule.convert(text)
    except (TypeError, ValueError):
        raise _invalid(text, rule.valid) from None


def _read_named(rule: Rule, text: str, example: str | None = None) -> tuple[str | None, object]:
    """The name, None for all, and the value of an argument `[NAME=]VALUE`; with an example, the name is required."""
    name, _, value = text.rpartition("=")
    if example and not name:
        raise _invalid(text, example)
    return name or None, read_value(rule, value)


def _read_pair(example: str, text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    if not (name and value):
        raise _invalid(text, example)
    return name, value


def _read_range(text: str) -> tuple[str, object]:
    metric, _, ends = text.rpartition("=")
    try:
        low, high = (float(part) for part in ends.split(","))
    except ValueError:
        raise _invalid(text, "METRIC=LO,HI, such as bleu=0,100") from None
    if not (metric and low < high):
        raise _invalid(text, "a metric and a range with LO < HI")
    return metric, (low, high)


def _read_column(text: str) -> tuple[str, list[str]]:
    role, _, names = text.partition("=")
    if not (role and names.strip(", ")):
        raise _invalid(text, "ROLE=NAME, such as score=correct")
    return role.strip().replace("-", "_"), [name.strip() for name in names.split(",") if name.strip()]


def split_names(text: str) -> tuple[str, ...]:
    """The names in a list that is separated by commas."""
    return tuple(name.strip() for name in text.split(","))


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """The declaration of an option.

    - `name`: name of the keyword; the argument is `--name`, unless `flags` lists others.
    - `group`, `help`, `metavar`: as the help of a command shows them.
    - `default`: value if neither an argument nor the settings file contains one.
    - `rule`: conversion and valid values of a number or a text; of each value, if the option maps names to values.
    - `choices`: valid values, if there are only a few.
    - `read`: conversion of an argument, if it is not that of `rule`.
    - `basic`: commands whose `--help` shows the option, with its help up to the first semicolon; `--help-all` shows all
      options. None: the only command that has it, if the option is not one of several commands.
    - `is_flag`, `is_list`: whether the argument has no value, or can be given several times.
    - `is_required`: whether the command line must contain the argument.
    - `nargs`, `const`: as for `add_argument` of argparse.
    - `group_of_one`: arguments with the same value exclude each other.
    - `commands`: commands whose command line has the option.
    - `functions`: Python functions that have the keyword; None for those with the names of the commands.
    - `settings`: rules of the keys of the settings file that set the option.
    - `merge`: how an argument with names is combined with the settings file: `replace` it, `by name`, or `unless
      general`: by name, unless the argument applies to all names.
    - `variants`: what differs in single commands; a text is another help.
    """

    name: str
    group: str = "Method"
    help: str = ""
    metavar: str | None = None
    default: Any = None
    rule: Rule | None = None
    choices: tuple[str, ...] = ()
    read: Read | None = None
    is_flag: bool = False
    is_list: bool = False
    is_required: bool = False
    nargs: str | None = None
    const: str | None = None
    group_of_one: str | None = None
    flags: tuple[str, ...] = ()
    commands: str = ""
    functions: str | None = None
    settings: Mapping[str, Rule] = field(default_factory=dict)
    merge: Literal["replace", "by name", "unless general"] = "replace"
    variants: Mapping[str, str | Mapping[str, Any]] = field(default_factory=dict)
    basic: str | None = None

    @property
    def arguments(self) -> tuple[str, ...]:
        """Names of the argument on the command line."""
        return self.flags or (f"--{self.name.replace('_', '-')}",)

    def of(self, command: str) -> "Option":
        """The option in one command or function."""
        changes = self.variants.get(command, self.help)
        return replace(self, **({"help": changes} if isinstance(changes, str) else changes))

    def is_of(self, command: str) -> bool:
        """Whether the command has the option."""
        return command in self.commands.split()

    def is_basic_of(self, command: str) -> bool:
        """Whether `--help` of the command shows the option."""
        return not self.commands if self.basic is None else command in self.basic.split()

    def brief(self) -> "Option":
        """The option as `--help` shows it, in one line."""
        metavar = re.sub(r"^\[.*\]|\[.*|\|.*", "", self.metavar or self.name.upper())
        text = self.help.partition(";")[0].removesuffix(" (repeatable)")
        return replace(self, help=text, metavar=None if self.is_flag else metavar, nargs=None, const=None)

    def is_keyword_of(self, function: str) -> bool:
        """Whether the Python function has the keyword."""
        return function in (self.commands if self.functions is None else self.functions).split()

    def check(self, value: object) -> None:
        """Check a value that Python code gives. Raises DataError if it is invalid; the message names the option."""
        if value is None or value == self.default:
            return
        if self.choices:
            for one in value if isinstance(value, list | tuple) else [value]:
                if one not in self.choices:
                    raise DataError(unknown_name(f"value of {self.name}", one, self.choices, plural="values"))
        elif self.rule is not None:
            for one in value.values() if isinstance(value, Mapping) else [value]:
                if not _is_valid(self.rule, one):
                    raise DataError(f"Invalid {self.name}: {one!r}. Give {self.rule.valid}.")


def option(default: T, **declaration: Any) -> T:
    """A field of `Options` with its declaration."""
    return field(default=default, metadata=declaration)


def named_option(**declaration: Any) -> Any:
    """A field of `Options` that maps names to values, with its declaration."""
    return field(default_factory=dict, metadata=declaration)


_SCORES = "estimate report rescore"
_SYSTEMS = "compare rank gate"
_LOGS = f"{_SCORES} {_SYSTEMS} effects history plan grader structure watch"
_LOG_FUNCTIONS = (
    "estimate compare rank gate self_test resource_use effects history plan plan_labels plan_graders plan_active "
    "assess_graders report detect_structure"
)
_ARRAYS = "estimate_scores compare_scores rank_scores"
_MISSING = "estimate compare rank gate effects plan report"
_OVERALL = f"estimate report {_SYSTEMS}"
_LEVEL = f"{_SCORES} {_SYSTEMS} effects history plan grader watch"
_ESTIMATE = "estimate report resource_use estimate_scores"
_COMPARE = "compare gate self_test compare_scores"
_RANK = "rank rank_scores"
_PATTERNS: Mapping[str, Any] = {
    "group": "Data",
    "rule": NAMES,
    "is_list": True,
    "metavar": "PATTERN",
    "commands": _LOGS,
    "functions": _LOG_FUNCTIONS,
}
_BOUNDS: Mapping[str, Any] = {
    "rule": BOUND,
    "read": partial(_read_named, BOUND),
    "is_list": True,
    "metavar": "[TASK[:METRIC]=]B",
    "commands": "gate",
    "merge": "by name",
}
_POPULATION_OR_BENCHMARK: Mapping[str, Any] = {
    "choices": ("population", "benchmark"),
    "help": "Set the scope: population or benchmark; similar new questions, or only these (default: population)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Options of an analysis; the same object for all of them, each of which uses those that apply to it.

    Attributes
    ----------
    task, metric, filter, model : parts of the logs to use: names or glob patterns; selecting a group selects all of its
        tasks. `TASK=NAME` among the metrics sets the metric of a task in the overall score
    range : smallest and largest possible score by metric or by `TASK:METRIC`; a pair in functions of arrays
    column : names of the columns of tables by role, such as `{"score": "right"}`, as for `read_table`
    cluster : cluster field of all tasks, `none` or `auto`; a list of these and of texts `TASK=FIELD`; or a mapping from
        tasks to fields
    use_samples : whether to use the logged samples even if they cover only a part of what the harness reports
    missing : `drop`, `zero`, `bounds` or `error`, or a mapping from causes such as `error`, `limit` or `token-limit` to
        these
    treat : policy by cause for trials whose scores are to be ignored, such as `{"limit": "zero"}`
    resources : whether to read tokens, cost and time of the trials
    token_prices : TOML file of prices of tokens; it implies `resources`
    factor : settings by the name of their factor: those recorded in the log, or `task`, `path` or `run`
    by : fields of the questions, for results by groups of questions with the same value
    same_family : names or patterns of the systems that belong to the family of a grader
    method : `bayes`, `robust`, `wilson`, `t`, `clt` or the name of an estimator; in comparisons `bayes`, `dirichlet`,
        `robust`, `latent-normal`, `t` (paired, cluster-robust) or `independent`, which does not match questions
    margin, margins : smallest difference that matters, for all tasks, and for single tasks (in a gate also metrics)
    improve_by : improvement over a baseline that a gate requires instead of the margin
    at_least, at_most : bounds of scores that a gate tests, for all tasks or by `TASK` or `TASK:METRIC`
    level : nominal coverage of the intervals, in (0, 1)
    power : probability of detecting a true difference, in (0, 1)
    scope : `population` (questions from the same population), `benchmark` (exactly these questions) or `full` (all
        questions of the benchmark of which a run used a part)
    estimand : `mean`, `pass@K`, `pass^K`, `G-pass@K:TAU`, `mG-pass@K` or `maj@K`, for metrics that are means
    interval : kind of credible interval; None for each method's default
    correction : correction of the paired tests of a ranking: `holm` or `bh` (Benjamini-Hochberg)
    n_draws : number of draws from the joint posterior of a ranking, at least 1,000
    seed : random seed of the methods that sample
    generalize_over : factors whose new levels the scores refer to
    overall : whether to compute the overall result of several tasks, as the options about it also request; a gate then
        decides by it alone
    weights : weights of tasks in the overall result: `equal`, `questions` (in proportion to their numbers), `group`
        (those of the only group in the logs), `subtasks` (equal, for all tasks of groups instead of the groups) or a
        mapping from each task to a non-negative number. A group counts as one task, except with `subtasks`
    normalize : `chance` reports each score as (score - chance) / (1 - chance)
    chance : score of random answers by task, for `normalize="chance"`
    missing_tasks : if some systems lack a task, use the `common` tasks, `drop-system` or raise an `error`
    difference, width : smallest difference of two systems to detect, and width of the interval of a score
    questions, trials : fixed parts of a design; None if free
    budget, cost_per_question, cost_per_trial, cost_per_level : largest cost of a run, cost of a question, of an answer,
        and of a level of each further factor
    structure : what the options about clusters, ranges and missing scores say, as analyses read it
    """

    task: str | Sequence[str] = option(
        (),
        help="Use only tasks whose names match PATTERN; the name of a group selects all of its tasks (repeatable)",
        basic=_LOGS,
        **_PATTERNS,
    )
    metric: str | Sequence[str] = option(
        (),
        **_PATTERNS,
        help="Use only metrics that match PATTERN (repeatable)",
        basic=_LOGS.replace("plan ", ""),
        variants=dict.fromkeys(
            _OVERALL.split(),
            "Use only metrics that match PATTERN; TASK=NAME sets the metric of TASK in the overall score (repeatable)",
        ),
    )
    filter: str | Sequence[str] = option(
        (),
        help="Use only scores whose filter matches PATTERN; 'none' selects scores without a filter (repeatable)",
        **_PATTERNS,
    )
    model: str | Sequence[str] = option(
        (), help="Use only systems whose names match PATTERN (repeatable)", basic="history", **_PATTERNS
    )
    range: InitVar[Mapping[str, tuple[float, float]] | None] = option(
        None,
        group="Data",
        rule=RANGE,
        read=_read_range,
        is_list=True,
        metavar="[TASK:]METRIC=LO,HI",
        commands=_LOGS,
        functions=f"{_LOG_FUNCTIONS} {_ARRAYS}",
        settings={
            "ranges": Rule(
                table_of(_range), "a table of [low, high] by METRIC or TASK:METRIC, such as {bleu = [0, 100]}"
            )
        },
        help="Set the smallest and largest possible score of a metric (repeatable)",
    )
    column: Mapping[str, str | Sequence[str]] = named_option(
        group="Data",
        rule=NAMES,
        read=_read_column,
        is_list=True,
        metavar="ROLE=NAME",
        commands=_LOGS,
        functions=_LOG_FUNCTIONS,
        help="Read ROLE, such as score, from column NAME of a table; other roles: question, system … (repeatable)",
        basic="estimate compare rank report history effects structure",
    )
    cluster: InitVar[str | Sequence[str] | Mapping[str, str] | None] = option(
        None,
        group="Data",
        is_list=True,
        metavar="[TASK=]FIELD",
        commands=_LOGS.replace("history ", ""),
        functions=_LOG_FUNCTIONS,
        settings={
            "cluster": Rule(text, "the name of a field, none or auto"),
            "clusters": Rule(table_of(text), 'a table of fields by task, such as {drop = "section_id"}'),
        },
        help="Cluster questions by FIELD; 'auto' detects FIELD, 'none' ignores clusters (default: auto, repeatable)",
        basic="estimate compare rank report structure rescore",
    )
    use_samples: InitVar[bool | None] = option(
        None,
        group="Data",
        is_flag=True,
        commands=f"{_SCORES} {_SYSTEMS} effects plan",
        functions=_LOG_FUNCTIONS,
        help="Use the logged samples even if the logged totals are based on more questions",
    )
    missing: "InitVar[MissingPolicy | Mapping[str, MissingPolicy] | None]" = option(
        None,
        group="Data",
        is_list=True,
        metavar="[CAUSE=]POLICY",
        commands=_MISSING,
        functions=f"{_MISSING} self_test resource_use",
        help="Set the policy for trials without a score: drop, zero, bounds or error (repeatable, default: drop)",
    )
    treat: "InitVar[Mapping[str, MissingPolicy] | None]" = option(
        None,
        group="Data",
        is_list=True,
        metavar="CAUSE=POLICY",
        commands=_MISSING,
        functions=f"{_MISSING} self_test resource_use",
        help="Apply POLICY to trials that ended with CAUSE, such as 'limit', even if they have a score (repeatable)",
    )
    resources: bool = option(
        False,
        group="Data",
        is_flag=True,
        commands="estimate compare rank report",
        functions="estimate compare rank report resource_use",
        help="Also analyze tokens, cost, time, messages and turns; and the cost per solved question",
        basic="",
    )
    token_prices: str | None = option(
        None,
        group="Data",
        metavar="FILE",
        commands="estimate compare rank report gate",
        functions="estimate compare rank report gate resource_use",
        settings={
            "token_prices": Rule(
                table_of(table_of(NOT_NEGATIVE.convert)),
                "a table of prices by model, such as {gpt-5 = {input = 1.25, output = 10}}",
            )
        },
        help="Use the token prices in this TOML file if the log contains no costs; implies --resources",
        variants={
            "gate": {
                "group": "Method",
                "help": "Use the token prices in this TOML file if the log contains no costs",
            }
        },
    )
    factor: Mapping[str, str] = named_option(
        group="Data",
        read=partial(_read_pair, "NAME=FIELD, such as prompt=description"),
        is_list=True,
        metavar="NAME=FIELD",
        commands="estimate effects plan",
        functions="effects",
        settings={
            "factors": Rule(table_of(text), 'a table of logged settings by factor, such as {prompt = "description"}')
        },
        merge="by name",
        help="Define the factor NAME by the run setting FIELD; or by 'task', 'path' or 'run' (repeatable)",
        basic="effects",
    )
    by: str | Sequence[str] = option(
        (),
        group="Data",
        rule=NAMES,
        is_list=True,
        metavar="FIELD",
        commands="estimate compare rank report grader gate",
        functions="estimate compare rank report gate assess_graders",
        help="Also print results for each value of FIELD; a field of the questions, such as category (repeatable)",
        basic="estimate compare rank report grader gate",
        variants={
            "gate": {
                "group": "Method",
                "help": "Also test each group of questions with equal FIELD; each group is like a task (repeatable)",
                "settings": {
                    "gate.by": Rule(
                        _text_or_texts, 'a field of the questions, or a list of fields, such as ["language"]'
                    )
                },
            }
        },
    )
    same_family: str | Sequence[str] = option(
        (),
        group="Data",
        rule=NAMES,
        is_list=True,
        metavar="PATTERN",
        commands="grader",
        functions="assess_graders",
        help="Test if the grader prefers systems that match PATTERN; requires --labels (repeatable)",
        basic="grader",
    )
    method: str = option(
        "bayes",
        metavar="METHOD",
        flags=("--uq", "--method"),
        rule=Rule(text, "the name of a method, such as bayes"),
        commands=f"{_SCORES} compare",
        functions=f"{_ESTIMATE} {_COMPARE}",
        help="Use bayes, wilson, t, clt or another method; see the list below (default: {default})",
        basic=f"{_SCORES} compare",
        variants={
            function: {
                "choices": get_args(CompareMethod),
                "read": lambda text: text.replace("_", "-"),
                "help": "Use bayes, t (paired) or independent (unpaired); t is cluster-robust (default: {default})",
            }
            for function in _COMPARE.split()
        },
    )
    margin: float = option(
        0.0,
        rule=MARGIN,
        read=partial(_read_named, MARGIN),
        is_list=True,
        metavar="[TASK=]D",
        commands="compare report gate",
        functions=f"{_COMPARE} report",
        settings={
            "margin": MARGIN,
            "margins": Rule(table_of(MARGIN.convert), "a table of margins by task, such as {gsm8k = 0.02}"),
        },
        merge="unless general",
        help="Set the smallest difference that matters to you; in units of the score (default: 0, repeatable)",
        basic="compare report gate",
        variants={
            "gate": {
                "metavar": "[NAME=]D",
                "help": "Allow scores to drop by up to D; with NAME, only on this task or metric (repeatable)",
            }
        },
    )
    margins: Mapping[str, float] = named_option(rule=MARGIN, functions="compare gate self_test report")
    improve_by: float | Mapping[str | None, float] | Mapping[str, float] | None = option(
        None,
        rule=NOT_NEGATIVE,
        read=partial(_read_named, MARGIN),
        is_list=True,
        metavar="[NAME=]D",
        commands="gate",
        settings={
            "gate.improve_by": Rule(_improvements, "an improvement of 0 or more, or a table of them by task or metric")
        },
        merge="unless general",
        help="Require that all scores, or the scores of task or metric NAME, improve by more than D (repeatable)",
    )
    at_least: float | Mapping[str | None, float] | Mapping[str, float] | None = option(
        None,
        **_BOUNDS,
        settings={
            "at_least": Rule(table_of(BOUND.convert), "a table of bounds by TASK or TASK:METRIC, such as {gsm8k = 0.8}")
        },
        help="Require that the true score is at least B; on TASK, or on every task (repeatable)",
        basic="gate",
    )
    at_most: float | Mapping[str | None, float] | Mapping[str, float] | None = option(
        None,
        **_BOUNDS,
        settings={
            "at_most": Rule(
                table_of(BOUND.convert), "a table of bounds by TASK or TASK:METRIC, such as {toxicity = 0.01}"
            )
        },
        help="Require that the true score is at most B; on TASK, or on every task (repeatable)",
        basic="gate",
    )
    scope: Scope = option(
        "population",
        choices=get_args(Scope),
        commands=f"{_SCORES} {_SYSTEMS} watch",
        functions=f"{_ESTIMATE} {_COMPARE} {_RANK}",
        settings={"scope": one_of("population", "benchmark")},
        help="Set the scope: population, benchmark or full; new questions, these, or all (default: {default})",
        basic=f"{_SCORES} rank watch",
        variants={
            **dict.fromkeys(f"{_COMPARE} {_RANK}".split(), _POPULATION_OR_BENCHMARK),
            "watch": {
                "choices": ("population", "full"),
                "help": "Set the scope: population or full; new questions, or all of the run (default: {default})",
            },
        },
    )
    level: float = option(
        0.95,
        rule=LEVEL,
        metavar="P",
        commands=_LEVEL,
        functions=f"{_ESTIMATE} {_COMPARE} {_RANK} effects history plan plan_labels plan_active assess_graders",
        settings={"level": LEVEL},
        help="Set the nominal coverage of intervals (default: {default})",
        basic=_LEVEL.replace("plan ", ""),
    )
    power: float = option(
        0.8,
        rule=LEVEL,
        metavar="P",
        commands="plan",
        functions=f"{_COMPARE} plan plan_labels",
        help="Set the probability of detecting D (default: {default})",
        basic="plan",
    )
    estimand: str = option(
        "mean",
        commands=_SCORES,
        functions=_ESTIMATE,
        rule=Rule(text, "an estimand, such as mean or pass@4"),
        help="Estimate mean, pass@K, pass^K or maj@K; or G-pass@K:TAU or mG-pass@K (default: {default})",
        basic="estimate rescore",
    )
    interval: CredibleKind | None = option(
        None,
        choices=get_args(CredibleKind),
        commands=_SCORES,
        functions=_ESTIMATE,
        help="Compute highest-density or equal-tailed credible intervals (default: depends on the method)",
    )
    correction: Correction = option(
        "holm",
        choices=get_args(Correction),
        metavar="METHOD",
        commands="rank",
        functions=_RANK,
        help="Correct p-values by holm or bh; in paired tests, bh: Benjamini-Hochberg (default: {default})",
        basic="rank",
    )
    n_draws: int = option(
        10_000,
        rule=Rule(partial(_whole, smallest=1000), "a whole number, 1000 or more"),
        functions=_RANK,
    )
    seed: int = option(
        0,
        rule=SEED,
        metavar="N",
        commands=f"{_SCORES} {_SYSTEMS} plan subset",
        functions=f"{_ESTIMATE} {_COMPARE} {_RANK} plan_labels plan_active plan_graders",
        help="Set the seed of random numbers (default: {default})",
        basic="subset",
    )
    generalize_over: str | Sequence[str] | None = option(
        None,
        metavar="NAME[,NAME]",
        rule=NAMES,
        read=split_names,
        commands="estimate effects plan rank",
        functions="effects estimate rank",
        help="Estimate the score for new values of these factors; such as question,seed (default: none)",
        basic="effects plan",
        variants={
            "effects": "Estimate the score for new values of these factors; such as question,seed "
            "(default: all factors found)",
            "plan": "Estimate the score for new values of these factors; such as question,seed (default: question)",
            "rank": {
                "group": "Overall result",
                "metavar": None,
                "read": None,
                "choices": ("task",),
                "help": "Rank systems by their scores on new tasks (default: on new questions of the same tasks)",
            },
        },
    )
    overall: bool = option(
        False,
        group="Overall result",
        is_flag=True,
        commands="compare gate",
        functions=f"estimate {_SYSTEMS}",
        help="Decide by the overall result of several tasks; instead of by each score",
        basic="gate",
        variants={
            "compare": {
                "group": "Output",
                "help": "Apply --fail-if-worse only to the overall result of several tasks",
            }
        },
    )
    weights: str | Mapping[str, float] = option(
        "equal",
        group="Overall result",
        metavar="WEIGHTS",
        commands=_OVERALL,
        settings={
            "weights": Rule(
                _weights, f"{', '.join(WEIGHT_SCHEMES)} or a table of weights by task, such as {{gsm8k = 2, drop = 1}}"
            )
        },
        help="Set the weights of tasks: equal, questions, group, subtasks or a FILE of weights (default: {default})",
    )
    normalize: Normalization = option(
        "none",
        group="Overall result",
        choices=get_args(Normalization),
        commands=_OVERALL,
        help="Rescale scores so that random answers score 0 (chance), or do not rescale them (default: {default})",
    )
    chance: Mapping[str, float] = named_option(
        group="Overall result",
        rule=CHANCE,
        read=partial(_read_named, CHANCE, example="TASK=P, such as arc=0.25"),
        is_list=True,
        metavar="TASK=P",
        commands=_OVERALL,
        settings={"chance": Rule(table_of(CHANCE.convert), "a table of scores by task, such as {arc = 0.25}")},
        merge="by name",
        help="Set the expected score of random answers on TASK, such as 0.25 (repeatable)",
    )
    missing_tasks: MissingTasks = option(
        "common",
        group="Overall result",
        choices=get_args(MissingTasks),
        commands=_OVERALL,
        settings={"missing_tasks": one_of(*get_args(MissingTasks))},
        help="If a system lacks a task, use common tasks only, drop the system, or stop (default: {default})",
    )
    difference: float | None = option(
        None,
        group="Target",
        rule=POSITIVE,
        metavar="D",
        group_of_one="goal",
        commands="plan",
        functions="plan plan_labels",
        help="Plan to detect a difference of D between two systems",
        basic="plan",
    )
    width: float | None = option(
        None,
        group="Target",
        rule=POSITIVE,
        metavar="W",
        group_of_one="goal",
        commands="plan",
        functions="plan plan_labels plan_active",
        help="Plan for an interval of width W; of a score, or of a difference if --target labels has two systems",
        basic="plan",
    )
    questions: int | None = option(
        None,
        group="Target",
        rule=COUNT,
        metavar="N",
        commands="plan",
        functions="plan plan_active",
        help="Plan with exactly N questions",
        basic="plan",
    )
    trials: int | None = option(
        None,
        group="Target",
        rule=COUNT,
        metavar="K",
        commands="plan",
        help="Plan with exactly K trials per question",
        basic="plan",
    )
    budget: float | None = option(
        None,
        group="Costs",
        rule=POSITIVE,
        metavar="B",
        commands="plan",
        functions="plan plan_graders",
        help="Limit the cost of a run to B; with --target graders, the number of grades of a system",
        basic="plan",
    )
    cost_per_question: float | None = option(
        None,
        group="Costs",
        rule=NOT_NEGATIVE,
        metavar="C",
        commands="plan",
        help="Set the fixed cost of a question, to which the cost of each trial is added (default: 0)",
    )
    cost_per_trial: float | None = option(
        None,
        group="Costs",
        rule=POSITIVE,
        metavar="C",
        commands="plan",
        help="Set the cost of one trial (default: 1)",
    )
    cost_per_level: Mapping[str, float] = named_option(
        group="Costs",
        rule=NOT_NEGATIVE,
        read=partial(_read_named, NOT_NEGATIVE, example="NAME=C, such as prompt=50"),
        is_list=True,
        metavar="NAME=C",
        commands="plan",
        functions="",
        help="Set the cost of each additional level of the factor NAME, such as prompt=50 (repeatable)",
    )
    structure: "StructureOptions" = field(default=None)  # type: ignore[assignment]

    def __post_init__(
        self,
        range: Mapping[str, tuple[float, float]] | None,
        cluster: str | Sequence[str] | Mapping[str, str] | None,
        use_samples: bool | None,
        missing: "MissingPolicy | Mapping[str, MissingPolicy] | None",
        treat: "Mapping[str, MissingPolicy] | None",
    ) -> None:
        method, scope = method_and_scope(self.method, None)
        object.__setattr__(self, "method", method)
        object.__setattr__(self, "scope", scope if scope and self.scope == "population" else self.scope)
        for one in OPTIONS.values():
            if one.name not in _STRUCTURE and (value := getattr(self, one.name)) is not one.default:
                one.check(value)
                if one.rule is NAMES and isinstance(value, str):
                    object.__setattr__(self, one.name, split_names(value) if one.read is split_names else (value,))
        if range is not None:
            OPTIONS["range"].check(range)
        _check_weights(self.weights)
        parse_estimand(self.estimand, self.scope)
        given = {"range": range, "cluster": cluster, "use_samples": use_samples, "missing": missing, "treat": treat}
        object.__setattr__(self, "structure", _structure_with(self.structure, given))

    def margin_of(self, task: str) -> float:
        """The smallest difference that matters on this task."""
        return self.margins.get(task, self.margin)

    @property
    def estimation(self) -> "Options":
        """The options for estimating the score of each system of a comparison or ranking."""
        return Options(level=self.level, scope=self.scope, structure=self.structure, seed=self.seed)

    @property
    def metrics(self) -> Mapping[str, str]:
        """The metric of single tasks in the overall result, `METRIC` or `METRIC,FILTER`."""
        pairs = (text.partition("=") for text in _listed(self.metric))
        return {task: metric for task, _, metric in pairs if metric}

    @property
    def generalizes_over_tasks(self) -> bool:
        """Whether the tasks are a sample of tasks, so that an overall result refers to new tasks."""
        return "task" in _listed(self.generalize_over or ()) and "task" not in self.factor

    @property
    def generalized_factors(self) -> frozenset[str]:
        """The factors other than tasks to whose new levels the scores refer."""
        return frozenset(_listed(self.generalize_over or ())) - ({"task"} if self.generalizes_over_tasks else set())

    @property
    def requests_overall(self) -> bool:
        """Whether the overall result of several tasks is requested, or an option determines how it is computed."""
        names = ("weights", "normalize", "chance", "missing_tasks")
        is_changed = any(getattr(self, name) != OPTIONS[name].default for name in names)
        return self.overall or is_changed or bool(self.metrics) or self.generalizes_over_tasks

    def recorded(self) -> dict[str, object]:
        """The options of an estimate, as a store records them."""
        from dataclasses import asdict

        names = ("method", "level", "scope", "estimand", "interval", "seed")
        return {**{name: getattr(self, name) for name in names}, "structure": asdict(self.structure)}


_STRUCTURE = ("range", "cluster", "use_samples", "missing", "treat")
_SELECTION = {"task": "tasks", "metric": "metrics", "filter": "filters", "model": "models"}
OPTIONS: Mapping[str, Option] = {
    name: Option(name=name, default={} if item.default is MISSING else item.default, **item.metadata)
    for name, item in Options.__dataclass_fields__.items()
    if name != "structure"
}
"""The declaration of each option by its name, in the order of the help."""


@dataclass(frozen=True, slots=True)
class LiveOption:
    """An option of a harness run.

    - `name`: key of the setting.
    - `rule`: conversion and valid values.
    - `help`: what it does, in one line.
    - `metavar`: placeholder of the value in the help; None if the option has no value.
    - `example`: a value for error messages.
    - `is_list`: whether the option can be given several times.
    """

    name: str
    rule: Rule
    help: str
    metavar: str | None = None
    example: str = ""
    is_list: bool = False

    @property
    def flag(self) -> str:
        """The option as it is typed."""
        return live_flag(self.name)

    @property
    def variable(self) -> str:
        """Name of the environment variable, for a harness whose settings are in the environment."""
        return self.flag.removeprefix("--").replace("-", "_").upper().replace("UQ", "HARNESS_UQ", 1)

    @property
    def help_line(self) -> str:
        """The option in a help text, with the placeholder of its value."""
        usage = f"{self.flag} {self.metavar or ''}"
        return f"  {usage:26}{self.help}"


def live_flag(name: str) -> str:
    """The option of a harness run as it is typed.

    >>> live_flag("reference_runs"), live_flag("method")
    ('--uq-reference-runs', '--uq')
    """
    return "--uq" if name == "method" else f"--uq-{name.replace('_', '-')}"


LIVE_OPTIONS = (
    LiveOption(
        *("method", Rule(text, "the name of a method, such as bayes")),
        *("Use bayes, wilson, t, clt or another method, or off", "METHOD", "bayes"),
    ),
    LiveOption("level", LEVEL, "Set the nominal coverage (default: 0.95)", "P", "0.95"),
    LiveOption(
        *("scope", one_of(*get_args(Scope))),
        *("Set the scope: population, benchmark or full", "SCOPE", "population"),
    ),
    LiveOption(
        *("cluster", Rule(_clusters, "the name of a field, TASK=FIELD, none or auto, or a list of these")),
        *("Cluster questions by FIELD, by none or auto", "FIELD", "passage"),
        is_list=True,
    ),
    LiveOption(
        *("estimand", Rule(text, "an estimand, such as mean or pass@4")),
        *("Estimate mean, pass@K, pass^K or maj@K", "ESTIMAND", "pass@4"),
    ),
    LiveOption(
        *("compare", Rule(text, "the path of a logged run")),
        *("Compare the new run with this logged run", "RUN", "runs/earlier"),
    ),
    LiveOption(
        *("questions", Rule(partial(_whole, smallest=2), "a whole number of at least 2")),
        *("Run N questions of each task, chosen in rounds", "N", "300"),
    ),
    LiveOption(
        *("reference_runs", Rule(_text_or_texts, "the path of a logged run, or several paths")),
        *("Choose them by these runs of other systems", "RUN", "runs/earlier"),
        is_list=True,
    ),
    LiveOption(
        *("rounds", Rule(partial(_whole, smallest=1), "a whole number of at least 1")),
        *("Choose the questions in N rounds (default: 5)", "N", "5"),
    ),
    LiveOption("keep_stderr", one_of(True, False), "Keep the standard errors of the harness"),
)
"""The options of every harness run; adapters add those that only their harness needs."""


@cache
def options_of_command(command: str) -> tuple[Option, ...]:
    """The options on the command line of a command."""
    return tuple(one.of(command) for one in OPTIONS.values() if one.is_of(command))


@cache
def options_of_function(function: str) -> Mapping[str, Option]:
    """The options that are keywords of a Python function, by name."""
    return {name: one.of(function) for name, one in OPTIONS.items() if one.is_keyword_of(function)}


def method_and_scope(method: Any, scope: str | None) -> tuple[Any, str | None]:
    """The method without the spellings of papers, and the scope, `benchmark` for methods that have no other. Raises
    DataError if another scope is given.

    >>> method_and_scope("bayes@n", None), method_and_scope("wilson", None)
    (('bayes-at-n', 'benchmark'), ('wilson', None))
    """
    method = _METHODS_OF_BENCHMARK.get(str(method).lower(), method)
    if method not in _METHODS_OF_BENCHMARK.values():
        return method, scope
    if scope not in (None, "benchmark"):
        raise DataError(f"Method {method!r} supports only the scope 'benchmark', not {scope!r}. Remove the scope.")
    return method, "benchmark"


def _listed(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _check_weights(weights: object) -> None:
    if isinstance(weights, str):
        if weights not in WEIGHT_SCHEMES:
            raise DataError(unknown_name("value of weights", weights, WEIGHT_SCHEMES, plural="values"))
    elif isinstance(weights, Mapping) and (
        any(not weight >= 0 for weight in weights.values()) or not sum(weights.values()) > 0
    ):
        raise DataError(f"weights must be numbers >= 0, not all 0; got {dict(weights)}")


def _structure_with(structure: "StructureOptions | None", given: Mapping[str, Any]) -> "StructureOptions":
    """The declared structure with what is given."""
    from harness_uq.data.missing_scores import MissingPolicies  # loads numpy, which the help of a command does not need
    from harness_uq.data.structure import StructureOptions

    structure = StructureOptions() if structure is None else structure
    changes: dict[str, Any] = {}
    if given["use_samples"] is not None:
        changes["use_samples"] = given["use_samples"]
    if given["range"] is not None:
        changes["ranges"] = given["range"]
    missing, treat = given["missing"], given["treat"]
    if missing is not None or treat is not None:
        general, by_cause = (None, missing) if isinstance(missing, Mapping) else (missing, {})
        changes["missing"] = MissingPolicies(general, by_cause, treat or {})
    if isinstance(cluster := given["cluster"], Mapping):
        changes |= {"cluster": None, "cluster_by_task": cluster}
    elif cluster is not None:
        parsed = StructureOptions.parse(_listed(cluster))
        changes |= {"cluster": parsed.cluster, "cluster_by_task": parsed.cluster_by_task}
    return replace(structure, **changes) if changes else structure


def check_keywords(keywords: Iterable[str], valid: Iterable[str], function: str) -> None:
    """Check that keywords exist. Raises TypeError if one does not; the message suggests the most similar name.

    >>> check_keywords(["levl"], ["level", "by"], "estimate")
    Traceback (most recent call last):
    TypeError: estimate() got an unexpected keyword argument 'levl'. Did you mean 'level'? Available options: by, level.
    """
    names = sorted(valid)
    if unknown := [name for name in keywords if name not in names]:
        raise TypeError(
            f"{function}() got an unexpected keyword argument {unknown[0]!r}.{suggestion(unknown[0], names, 'options')}"
        )


def resolve(
    function: str, options: Options | None, keywords: Mapping[str, Any], **parameters: object
) -> "tuple[Options, Selection]":
    """The options of a Python function, with those that are given as keywords replaced, and the logs that they select.

    The options that are returned select nothing, so that functions which receive selected logs can use them. Parameters
    are those with conflicts that are no options, such as labels; None if they are not given. Raises TypeError if a
    keyword does not exist; the message suggests the most similar name, and DataError if a value is invalid, or options
    exclude each other; the message names the option.
    """
    from harness_uq.data.log_filter import Selection
    from harness_uq.data.selection import LogFilter

    declared = options_of_function(function)
    check_keywords(keywords, declared, function)
    chosen = replace(options or Options(), **keywords)
    method_and_scope(chosen.method, keywords.get("scope"))
    for one in declared.values():
        if one.choices and one.variants and (value := getattr(chosen, one.name)) != one.default:
            one.check(value)
    values = {
        name: value for name, one in declared.items() if (value := getattr(chosen, name)) not in (one.default, {}, ())
    }
    check_conflicts(function, {**values, **{name: one for name, one in parameters.items() if one is not None}})
    patterns = {plural: _listed(getattr(chosen, name)) for name, plural in _SELECTION.items()}
    patterns["metrics"] = tuple(text for text in patterns["metrics"] if "=" not in text)
    named = {name: keywords.get(name) for name in _STRUCTURE} if {"cluster", "range"} & keywords.keys() else None
    selection = Selection(
        LogFilter(**patterns),
        None if named is None else _structure_with(None, named),
        () if function == "gate" else tuple(keywords.get("margins") or ()),
        bool(chosen.resources),
        chosen.token_prices,
        chosen.column,
    )
    metric = tuple(text for text in _listed(chosen.metric) if "=" in text)
    plain = replace(chosen, task=(), metric=metric, filter=(), model=(), resources=False, token_prices=None, column={})
    return plain, selection


def resolve_arrays(function: str, options: Options | None, keywords: Mapping[str, Any], metric: str) -> Options:
    """The options of a function of arrays, whose keyword `range` is the range of its only metric. Raises TypeError or
    DataError as `resolve`.
    """
    check_keywords(keywords, options_of_function(function), function)
    if keywords.get("range") is not None:
        keywords = {**keywords, "range": {metric: keywords["range"]}}
    return resolve(function, options, keywords)[0]


class Conflict(NamedTuple):
    """Options that cannot be combined, or that require another one.

    `commands`: commands and functions in which they conflict. `others`: options that cannot be given, too; of those
    that are required, one must be given; `scope=full` is an option with this value. `is_required`: whether the others
    are required. `reason`: why, at the end of the sentence.
    """

    commands: str
    option: str
    others: tuple[str, ...]
    is_required: bool = False
    reason: str = ""


CONFLICTS = (
    Conflict("estimate report", "reference_runs", ("labels",), reason=". Give one of them"),
    Conflict("estimate report", "inclusion_probabilities", ("labels", "reference_runs"), is_required=True),
    Conflict("compare rank gate plan grader assess_graders", "inclusion_probabilities", ("labels",), is_required=True),
    Conflict("estimate report", "reference_runs", ("scope=full",), is_required=True),
    Conflict("compare rank gate", "labels", ("scope=population",), is_required=True),
    Conflict(
        "grader assess_graders",
        "same_family",
        ("labels",),
        is_required=True,
        reason=", because only they show which system the grader overrates",
    ),
    Conflict("subset", "inclusion_probabilities", ("after",), is_required=True),
    Conflict("estimate", "generalize_over", ("labels", "reference_runs")),
    Conflict("estimate", "factor", ("labels", "reference_runs")),
    Conflict(
        "estimate",
        "by",
        ("labels", "reference_runs", "generalize_over", "factor"),
        reason=", which does not apply to the scores of groups",
    ),
    Conflict("rank", "labels", ("by",), reason=", which does not correct scores"),
    Conflict(
        "compare",
        "labels",
        ("by", "disagreements", "resources", "token_prices"),
        reason=", which does not correct scores",
    ),
    Conflict("gate", "labels", ("baseline",), is_required=True),
    Conflict("gate", "labels", ("at_least", "at_most", "overall", "by")),
    Conflict("gate", "by", ("overall",)),
    Conflict("gate", "history", ("baseline",), is_required=True),
    Conflict("plan plan_labels", "difference", ("width",)),
    Conflict("plan_active", "width", ("questions",)),
)
"""Conflicts of options, which are checked for keywords and arguments alike."""


def check_conflicts(command: str, given: Mapping[str, object], *, is_command: bool = False) -> None:
    """Check that the options with the values that are given can be combined. If they cannot, raises UsageError for a
    command and DataError for a function.
    """

    def is_given(option: str) -> bool:
        name, has_value, value = option.partition("=")
        return given.get(name, OPTIONS[name].default) == value if has_value else name in given

    def named(*options: str) -> str:
        parts = [option.partition("=") for option in options]
        if is_command:
            return " or ".join(f"--{name.replace('_', '-')} {value}".rstrip() for name, _, value in parts)
        return " or ".join(f"{name}={value!r}" if value else name for name, _, value in parts)

    for conflict in CONFLICTS:
        if conflict.option not in given or command not in conflict.commands.split():
            continue
        others = [option for option in conflict.others if is_given(option)]
        text = ""
        if conflict.is_required and not others:
            text = f"{named(conflict.option)} requires {named(*conflict.others)}{conflict.reason}."
        elif others and not conflict.is_required:
            text = f"{named(conflict.option)} cannot be combined with {named(others[0])}{conflict.reason}."
        if text:
            raise UsageError(text) if is_command else DataError(text)


def options_from_arguments(
    command: str, arguments: Mapping[str, Any], settings: Mapping[str, Any], origin: str = ""
) -> Options:
    """The options of a command: an argument takes precedence over the settings file, and this over the default.

    `arguments`: parsed arguments by name; those that are not given are None, False or empty. `settings`: values of the
    settings file by key. `origin`: name of the settings file. Raises DataError if a value is invalid.
    """
    from harness_uq.data.missing_scores import MissingPolicies
    from harness_uq.data.structure import StructureOptions

    values: dict[str, Any] = {}
    for one in options_of_command(command):
        given = arguments[one.name]
        stored = [settings[key] for key in one.settings if key in settings]
        if one.name in _STRUCTURE:
            continue
        if one.merge != "replace":
            values[one.name] = _merged(one, dict(given), stored)
        elif given:
            values[one.name] = dict(given) if isinstance(given, list) and isinstance(given[0], tuple) else given
        elif given is not None and given != [] and given is not False:
            values[one.name] = given
        elif stored and (not one.choices or stored[0] in one.choices):
            values[one.name] = stored[0]
    if "method" in values:
        method_and_scope(values["method"], values.get("scope"))
    if "margin" in values:
        values["margins"] = values["margin"]
        values["margin"] = values["margins"].pop(None, 0.0)
    structure = replace(
        StructureOptions.parse(arguments.get("cluster") or (), dict(arguments.get("range") or ())),
        defaults=StructureOptions(
            settings.get("cluster"), settings.get("clusters", {}), settings.get("ranges", {}), origin=origin
        ),
        use_samples=bool(arguments.get("use_samples")),
        missing=MissingPolicies.parse(arguments.get("missing") or (), arguments.get("treat") or ()),
    )
    return Options(**values, structure=structure)


def _merged(one: Option, given: dict[str | None, Any], stored: Iterable[object]) -> dict[str | None, Any]:
    """The values by name, None for all names, of an argument and of the settings file."""
    if one.merge == "unless general" and None in given:
        return given
    merged: dict[str | None, Any] = {}
    for value in stored:
        merged.update(value if isinstance(value, Mapping) else {None: value})
    return {**merged, **given}
