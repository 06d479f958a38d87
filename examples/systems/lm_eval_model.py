"""The scripted systems as the lm-evaluation-harness model `scripted`: `--model_args path=NAME,ability=LOGITS`.

With `sensitivity=LOGITS` the prompt moves its ability.
"""

from collections import Counter
from collections.abc import Sequence

import lm_eval.models  # noqa: F401 - a model registered before this import would hide every built-in one
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model

from systems.behaviour import System
from systems.hashing import normal
from systems.questions import Question


@register_model("scripted")
class ScriptedLM(LM):
    """Reads the document behind each request instead of its prompt."""

    def __init__(self, path: str, ability: float, sensitivity: float = 0.0, **_of_the_harness: object) -> None:
        super().__init__()
        self.system, self.sensitivity = System(path, float(ability)), float(sensitivity)

    def loglikelihood(self, requests: Sequence[Instance]) -> list[tuple[float, bool]]:
        """The chosen continuation of each document is the likely one."""
        return [self._score(request) for request in requests]

    def generate_until(self, requests: Sequence[Instance]) -> list[str]:
        """One reply a request; the harness repeats the request for every trial."""
        trials: Counter[tuple[str | None, int | None]] = Counter()
        replies = []
        for request in requests:
            key = (request.task_name, request.doc_id)
            replies.append(f"ANSWER: {self.system.reply(Question.from_row(request.doc), trial=trials[key])}")
            trials[key] += 1
        return replies

    def loglikelihood_rolling(self, requests: Sequence[Instance]) -> list[float]:
        """The log-likelihood of each document's text."""
        return [self.system.log_likelihood(Question.from_row(request.doc)) for request in requests]

    def _score(self, request: Instance) -> tuple[float, bool]:
        is_chosen = request.idx == self._system_for(request.args[0]).choose(Question.from_row(request.doc))
        return (-1.0 if is_chosen else -3.0, is_chosen)

    def _system_for(self, context: str) -> System:
        """Its ability moved by the wording, the first paragraph, and half as much by the examples that follow it."""
        if not self.sensitivity:
            return self.system
        wording, *examples = context.split("\n\n")[:-1]
        name = self.system.name
        moved = normal("wording", name, wording) + normal("examples", name, *examples) / 2
        return System(name, self.system.ability + self.sensitivity * moved)
