"""Register the aggregations under names for task files, such as `aggregation: uq_beta`, when this module is imported.

lm-eval after 0.4.13 finds them without the import, through the entry points `lm_eval.aggregations`.
"""

import lm_eval.api.metrics
import lm_eval.models  # noqa: F401
from lm_eval.api.registry import AGGREGATION_REGISTRY, register_aggregation

from harness_uq_lm_eval import aggregations

AGGREGATIONS = {
    "uq_beta": aggregations.beta_mean,
    "uq_wilson": aggregations.wilson_mean,
    "uq_clustered": aggregations.clustered_mean,
    "uq_f1": aggregations.bayes_f1,
    "uq_mcc": aggregations.bayes_mcc,
    "uq_perplexity": aggregations.bayes_perplexity,
}

for _name, _function in AGGREGATIONS.items():
    if _name not in AGGREGATION_REGISTRY:
        register_aggregation(_name)(_function)
