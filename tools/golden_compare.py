"""Compare the results of two runs of `golden.py`: exactly, to a small relative error, or to Monte Carlo error."""

import difflib
import math
import re
import statistics
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

RELATIVE, ABSOLUTE = 1e-9, 1e-12
N_ERRORS = 4  # Monte Carlo errors by which a number that rests on draws may differ
N_DRAWS = 10_000  # default of the commands; a probability has at least the Monte Carlo error of one draw
MISSING = "(missing)"
_NUMBER = re.compile(r"(?<![\w.])[-−+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
_WORDING = {"text", "verdict_text", "next_step", "method_reason", "reason", "stdout", "stderr"}

Leaf = Any
Flat = dict[str, Leaf]
Drawn = dict[str, Any]  # path -> [mean, standard deviation] of a number, or {"values": [...]} of anything else


@dataclass(frozen=True)
class Difference:
    """A value that is not as stored."""

    case: str
    path: str
    stored: Leaf
    new: Leaf

    @property
    def relative(self) -> float | None:
        """The relative difference of two numbers."""
        if not (_is_number(self.stored) and _is_number(self.new)):
            return None
        return abs(self.new - self.stored) / max(abs(self.stored), abs(self.new), ABSOLUTE)

    def lines(self) -> list[str]:
        """The difference in lines of text; only the lines of longer texts that differ."""
        if isinstance(self.stored, str) and isinstance(self.new, str) and "\n" in self.stored + self.new:
            diff = difflib.unified_diff(self.stored.splitlines(), self.new.splitlines(), lineterm="", n=0)
            return [self.path, *(f"    {line}" for line in list(diff)[2:22] if not line.startswith("@@"))]
        how = "" if self.relative is None else f"  (relative difference {self.relative:.2g})"
        return [f"{self.path}: {_short(self.stored)} -> {_short(self.new)}{how}"]


@dataclass
class IntendedChange:
    """An entry of `intended.toml`: cases and paths that may differ, why, and by how much."""

    cases: str
    paths: str
    reason: str
    bound: float | None = None
    n_matches: int = 0

    def allows(self, difference: Difference) -> bool:
        """Whether this entry covers the difference."""
        if not (fnmatchcase(difference.case, self.cases) and fnmatchcase(difference.path, self.paths)):
            return False
        if self.bound is not None:
            if not (_is_number(difference.stored) and _is_number(difference.new)):
                return False
            if abs(difference.new - difference.stored) > self.bound:
                return False
        self.n_matches += 1
        return True


def read_intended(path: Path) -> list[IntendedChange]:
    """The intended changes in a TOML file."""
    return [IntendedChange(**entry) for entry in tomllib.loads(path.read_text(encoding="utf-8")).get("change", [])]


def flatten(value: object) -> Flat:
    """Values by dotted path; the keys of an object and the length of a list are values, too.

    Messages are named by their code instead of their position, so that one more message is one difference.
    """
    return dict(_leaves(value, ""))


def _leaves(value: object, path: str) -> Iterator[tuple[str, Leaf]]:
    prefix = f"{path}." if path else ""
    if isinstance(value, dict):
        yield f"{prefix}(keys)", " ".join(map(str, value))
        for key, item in value.items():
            yield from _leaves(item, f"{prefix}{key}")
    elif isinstance(value, list):
        names = _names(value)
        yield f"{prefix}(items)", " ".join(names) if value and names[0] != "0" else len(value)
        for name, item in zip(names, value, strict=True):
            yield from _leaves(item, f"{prefix}{name}")
    else:
        yield path, value


def _names(items: Sequence[object]) -> list[str]:
    """Names of the items of a list: codes of messages, otherwise positions."""
    if not all(isinstance(item, dict) and "code" in item and "text" in item for item in items):
        return [str(i) for i in range(len(items))]
    seen: dict[str, int] = defaultdict(int)
    names = []
    for item in items:
        code = item["code"]  # type: ignore[index]
        seen[code] += 1
        names.append(code if seen[code] == 1 else f"{code}#{seen[code]}")
    return names


def find_drawn(results: Sequence[object]) -> Drawn:
    """The values that differ between results with several seeds, with their mean and spread.

    A path counts as drawn, too, if it differs from a drawn one only in positions: whether a probability of exactly 1
    differs between few seeds is chance.
    """
    flats = [flatten(result) for result in results]
    paths = list(dict.fromkeys(path for flat in flats for path in flat))
    differs = {path for path in paths if len({_key(flat.get(path, MISSING)) for flat in flats}) > 1}
    alike = {generic(path) for path in differs}
    return {path: _spread([flat.get(path, MISSING) for flat in flats]) for path in paths if generic(path) in alike}


def generic(path: str) -> str:
    """A path without positions."""
    return ".".join("*" if part.isdigit() else part for part in path.split("."))


def _spread(values: Sequence[Leaf]) -> Any:
    if all(isinstance(value, float) and math.isfinite(value) for value in values):
        return [float(f"{statistics.fmean(values):.9g}"), float(f"{statistics.stdev(values):.3g}")]
    return {"values": list({_key(value): value for value in values}.values())}


def compare(
    case: str, stored: object, new: object, drawn: Drawn, *, n_seeds: int, exact: bool = False
) -> tuple[int, list[Difference]]:
    """Compare the results with seed 0: the number of values, and the differences; `exact` allows for none."""
    old_flat, new_flat = flatten(stored), flatten(new)
    floors = _typical_spreads(drawn)
    paths = list(dict.fromkeys([*old_flat, *new_flat]))
    differences = []
    for path in paths:
        old, value = (flat.get(path, MISSING) for flat in (old_flat, new_flat))
        if _key(old) != _key(value) and (exact or not _agree(old, value, drawn.get(path), floors, path, n_seeds)):
            differences.append(Difference(case, path, old, value))
    return len(paths), differences


def compare_repeated(
    differences: Iterable[Difference], drawn: Drawn, repeated: Drawn, *, n_seeds: int, n_repeated: int
) -> list[Difference]:
    """The differences that remain if the new results with several seeds are compared with the stored ones."""
    kept = []
    for difference in differences:
        old, new = drawn.get(difference.path), repeated.get(difference.path)
        if isinstance(old, list) and isinstance(new, list):
            degrees = n_seeds + n_repeated - 2
            variance = ((n_seeds - 1) * old[1] ** 2 + (n_repeated - 1) * new[1] ** 2) / degrees
            floor = _probability_error(difference.path, old[0])
            error = math.sqrt(max(variance, floor**2) * (1 / n_seeds + 1 / n_repeated))
            if abs(new[0] - old[0]) <= _n_errors(degrees) * error + RELATIVE * abs(old[0]):
                continue
            difference = replace(difference, stored=old[0], new=new[0])  # means over seeds
        elif isinstance(old, dict) and isinstance(new, dict) and _overlap(old["values"], new["values"]):
            continue
        kept.append(difference)
    return kept


def _overlap(old: Sequence[Leaf], new: Sequence[Leaf]) -> bool:
    """Whether drawn values that are no floating-point numbers are alike."""
    if all(map(_is_number, [*old, *new])):
        return min(new) <= max(old) and min(old) <= max(new)
    return bool({_template(value) for value in old} & {_template(value) for value in new})


def _template(value: Leaf) -> str:
    return _NUMBER.sub("#", value) if isinstance(value, str) else _key(value)


def _typical_spreads(drawn: Drawn) -> dict[str, float]:
    by_path = defaultdict(list)
    for path, spread in drawn.items():
        if isinstance(spread, list) and spread[1] > 0:
            by_path[generic(path)].append(spread[1])
    return {path: statistics.median(spreads) for path, spreads in by_path.items()}


def _agree(old: Leaf, new: Leaf, spread: Any, floors: Mapping[str, float], path: str, n_seeds: int) -> bool:
    if isinstance(spread, dict):
        return _in_spread(new, spread["values"])
    if spread is not None and _is_number(new):
        mean, deviation = spread
        floor = _probability_error(path, mean) or floors.get(generic(path), 0.0)
        error = max(deviation, floor) * math.sqrt(1 + 1 / n_seeds)
        return abs(new - mean) <= N_ERRORS * error + RELATIVE * abs(mean)
    if isinstance(old, float) and isinstance(new, float):
        return math.isclose(old, new, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    if isinstance(old, str) and isinstance(new, str):
        return _same_text(old, new)
    return False


def _in_spread(new: Leaf, values: Sequence[Leaf]) -> bool:
    if _is_number(new) and all(map(_is_number, values)):
        return bool(min(values) <= new <= max(values))
    return _template(new) in {_template(value) for value in values}


def _probability_error(path: str, mean: float) -> float:
    """The Monte Carlo error of a probability of the default number of draws."""
    if "prob" not in path or not 0 <= mean <= 1:
        return 0.0
    return math.sqrt(max(mean * (1 - mean), 1 / N_DRAWS) / N_DRAWS)


@cache
def _n_errors(degrees: int) -> float:
    """As many errors, estimated with so many degrees of freedom, as `N_ERRORS` errors that are known."""
    from scipy import stats

    return float(stats.t.isf(stats.norm.sf(N_ERRORS), degrees))


def _same_text(old: str, new: str) -> bool:
    """Whether two texts differ at most in the last printed digit of a number."""
    if _NUMBER.sub("#", old) != _NUMBER.sub("#", new):
        return False
    return all(map(_same_printed, _NUMBER.findall(old), _NUMBER.findall(new)))


def _same_printed(old: str, new: str) -> bool:
    if old == new:
        return True
    if "." not in old or "." not in new:
        return False
    a, b = (float(text.replace(",", "").replace("−", "-")) for text in (old, new))
    decimals = min(len(text.partition("e")[0].partition(".")[2]) for text in (old, new))
    exponent = int(old.partition("e")[2] or 0)
    return abs(a - b) <= 1.01 * 10.0 ** (exponent - decimals)


def is_wording(difference: Difference) -> bool:
    """Whether a difference concerns only how a text is worded."""
    texts = [value for value in (difference.stored, difference.new) if value != MISSING]
    last = difference.path.rpartition(".")[2]
    return last in _WORDING and all(isinstance(text, str) for text in texts)


def _is_number(value: Leaf) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _key(value: Leaf) -> str:
    """Values are the same if their keys are: 1, 1.0, True and "1" are four values."""
    return f"{type(value).__name__} {value!r}"


def _short(value: Leaf) -> str:
    text = repr(value)
    return text if len(text) <= 160 else f"{text[:157]}..."
