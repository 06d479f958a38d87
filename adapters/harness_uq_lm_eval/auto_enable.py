"""Plugin of lm-eval that adds uncertainty to every evaluation of the process, with the method in HARNESS_UQ.

    LM_EVAL_PLUGINS=harness_uq_lm_eval.auto_enable HARNESS_UQ=bayes lm-eval run …

lm-eval after 0.4.13 imports plugins when an evaluation begins, after its command has imported the function that prints
the table. The intervals are therefore in the results, but not in the table. Without HARNESS_UQ nothing changes.
"""

from harness_uq_lm_eval.live.runtime import live_session
from harness_uq_lm_eval.live.settings import RequestedSettings

_context = live_session(RequestedSettings())  # entered until the process ends
session = _context.__enter__()
