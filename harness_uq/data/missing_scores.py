"""What trials without a score count as: left out, the worst possible score, both extremes, or a reason to refuse."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from harness_uq.data.arrays import FloatArray
from harness_uq.data.trial_endings import ENDINGS, UNKNOWN, TrialEndings, causes_of_missing
from harness_uq.messages.errors import DataError, unknown_name

MissingPolicy = Literal["drop", "zero", "bounds", "error"]
"""`drop` leaves a trial out, `zero` counts it as the worst possible score, `bounds` considers every possible score, and
`error` refuses to estimate."""
Extreme = Literal["worst", "best"]
"""Which of the possible scores stands for a trial with the policy `bounds`."""

POLICIES: Final[tuple[MissingPolicy, ...]] = get_args(MissingPolicy)
_LIMIT: Final = "limit"
CAUSES: Final = (*(ending.replace(" ", "-") for ending in ENDINGS), UNKNOWN)
"""Names of the endings of trials on the command line; `limit` stands for all kinds of limits."""


@dataclass(frozen=True, slots=True)
class MissingPolicies:
    """What trials without a score count as."""

    default: MissingPolicy | None = None  # of causes not in `by_cause`; None if the user chose none, which is `drop`
    by_cause: Mapping[str, MissingPolicy] = field(default_factory=dict)  # by the ending of the trial, one of `CAUSES`
    treat: Mapping[str, MissingPolicy] = field(default_factory=dict)  # by the ending of trials whose scores are ignored
    extreme: Extreme | None = None  # score of the trials with policy `bounds`; None leaves them out

    def __post_init__(self) -> None:
        for policy in (self.default, *self.by_cause.values(), *self.treat.values()):
            if policy is not None and policy not in POLICIES:
                raise DataError(unknown_name("policy for missing scores", str(policy), POLICIES, plural="policies"))
        for cause in (*self.by_cause, *self.treat):
            if cause not in CAUSES:
                raise DataError(unknown_name("cause of missing scores", cause, CAUSES, plural="causes"))

    @classmethod
    def parse(cls, missing: Iterable[str], treat: Iterable[str] = ()) -> "MissingPolicies":
        """Parse `POLICY` and `CAUSE=POLICY`; if several apply to all causes, the last one applies.

        Raises DataError if a cause or a policy does not exist, or `treat` contains a policy without a cause.

        >>> MissingPolicies.parse(["drop", "error=zero"]).of("error")
        'zero'
        """
        pairs = [item.rpartition("=") for item in missing]
        general = [policy for cause, _, policy in pairs if not cause]
        treated = [item.rpartition("=") for item in treat]
        if any(not cause for cause, _, _ in treated):
            raise DataError("treat requires a cause, such as limit=zero, because it overrides scores that were given")
        return cls(
            cast("MissingPolicy", general[-1]) if general else None,
            {cause: cast("MissingPolicy", policy) for cause, _, policy in pairs if cause},
            {cause: cast("MissingPolicy", policy) for cause, _, policy in treated},
        )

    @property
    def is_default(self) -> bool:
        """Whether the user chose no policy."""
        return self.default is None and not self.by_cause and not self.treat

    @property
    def has_bounds(self) -> bool:
        """Whether any trials have the policy `bounds`."""
        return "bounds" in (self.default, *self.by_cause.values(), *self.treat.values())

    def at(self, extreme: Extreme) -> "MissingPolicies":
        """The same policies, with an extreme score for the trials with the policy `bounds`."""
        return replace(self, extreme=extreme)

    def of(self, cause: str) -> MissingPolicy:
        """The policy for trials without a score that ended in this way."""
        return _policy_of(cause, self.by_cause) or self.default or "drop"

    def of_scored(self, cause: str) -> MissingPolicy | None:
        """The policy for trials with a score that ended in this way; None if their scores are used."""
        return _policy_of(cause, self.treat)


def _policy_of(cause: str, policies: Mapping[str, MissingPolicy]) -> MissingPolicy | None:
    """The policy of a cause, or that of all limits if the cause is one of them."""
    return policies.get(cause) or (policies.get(_LIMIT) if cause.endswith(_LIMIT) else None)


@dataclass(frozen=True, slots=True)
class MissingCounts:
    """Number of trials without a usable score, and what they count as."""

    n_missing: int  # trials without a score, and those whose score is ignored
    n_trials: int  # all trials
    n_ignored: int  # trials whose score is ignored because of how they ended
    n_worst: int  # missing trials with the policy `zero`
    n_open: int  # missing trials with the policy `bounds`
    causes: str  # how the missing trials ended, in words and with parentheses; empty if unknown
    logged: tuple[float, int] | None = None  # mean and number of questions with a score, if policies replace trials


@dataclass(frozen=True, slots=True, eq=False)
class MissingTrials:
    """Which trials of a metric have no usable score, and the policy of each."""

    is_missing: NDArray[np.bool_]  # bool (n_questions, n_trials)
    policy: NDArray[np.str_]  # text (n_questions, n_trials); of each missing trial, empty for the others
    counts: MissingCounts

    def completed(self, values: FloatArray, worst: float, open_score: float) -> FloatArray:
        """The scores with `worst` and `open_score` for trials with the policies `zero` and `bounds`; NaN leaves them
        out.
        """
        scores = np.where(self.is_missing, np.nan, values)
        return np.select([self.policy == "zero", self.policy == "bounds"], [worst, open_score], scores)


def find_missing(
    values: FloatArray, endings: TrialEndings | None, policies: MissingPolicies, *, is_complete: bool = False
) -> MissingTrials | None:
    """Find the trials without a usable score among `values` (n_questions, n_trials), where they are NaN; None without
    any.

    All endings are unknown if they have another shape than the values, because trials were reduced to one score. NaN
    marks no missing trials if the scores are `is_complete`, see `Scores`.
    """
    is_lost = np.isnan(values)
    if not policies.treat and (is_complete or not is_lost.any()):
        return None
    codes = _cause_codes(values, endings)
    of_scored = np.array([policies.of_scored(cause) or "" for cause in CAUSES])[codes]
    is_ignored = ~is_lost & (of_scored != "")
    is_missing = is_ignored if is_complete else is_lost | is_ignored
    if not is_missing.any():
        return None
    of_lost = np.array([policies.of(cause) for cause in CAUSES])[codes]
    policy = np.select([is_ignored, is_missing], [of_scored, of_lost], "")
    counts = MissingCounts(
        n_missing=int(is_missing.sum()),
        n_trials=values.size,
        n_ignored=int(is_ignored.sum()),
        n_worst=int((policy == "zero").sum()),
        n_open=int((policy == "bounds").sum()),
        causes=causes_of_missing(endings, np.where(is_missing, np.nan, values)),
    )
    return MissingTrials(is_missing, policy, counts)


def _cause_codes(values: FloatArray, endings: TrialEndings | None) -> NDArray[np.int64]:
    """Index into `CAUSES` of the ending of each trial."""
    unknown = len(CAUSES) - 1
    if endings is None or endings.codes.shape != values.shape:
        return np.full(values.shape, unknown)
    return np.where(endings.codes < 0, unknown, endings.codes)
