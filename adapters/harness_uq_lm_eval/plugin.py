"""A plugin of lm-eval: where it is imported, every evaluation of the process has uncertainty as HARNESS_UQ asks.

    LM_EVAL_PLUGINS=harness_uq_lm_eval.plugin HARNESS_UQ=bayes lm-eval run …

lm-eval after 0.4.13 imports such plugins as an evaluation begins, when its command has taken its table already: the
intervals are in the results and not in the table. Without HARNESS_UQ nothing changes.
"""

from harness_uq_lm_eval.live.runtime import live
from harness_uq_lm_eval.live.settings import Asked

_for_good = live(Asked())
session = _for_good.__enter__()
