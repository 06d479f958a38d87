"""Statistics on plain arrays: numpy and scipy.special only, no files, no printing, no global state."""

from harness_uq.stats.bayes_at_n import avg_at_n, bayes_at_n, bayes_at_n_posterior
from harness_uq.stats.benchmark import benchmark_posterior
from harness_uq.stats.beta_shape import beta_shape_test
from harness_uq.stats.binomial import beta_posterior, binomial_interval, finite_population_posterior
from harness_uq.stats.bounded import bounded_posterior, clustered_bounded_posterior
from harness_uq.stats.cluster_robust import cluster_bootstrap, cluster_robust, korn_graubard_wilson
from harness_uq.stats.clustered import clustered_importance_sample, clustered_posterior
from harness_uq.stats.confusion import clustered_confusion_posterior, confusion_posterior
from harness_uq.stats.groups import effective_counts, group_posterior, shared_items_posterior
from harness_uq.stats.independent import difference_posterior, independent_posterior
from harness_uq.stats.multiclass import clustered_multiclass_posterior, multiclass_posterior
from harness_uq.stats.nested import nested_posterior
from harness_uq.stats.paired import paired_difference_posterior, paired_posterior, paired_posteriors
from harness_uq.stats.pass_k import (
    bayes_pass_k,
    g_pass_at_k,
    maj_at_k,
    mg_pass_at_k,
    pass_at_k,
    pass_hat_k,
    pass_k_posterior,
)
from harness_uq.stats.pass_k_unbiased import unbiased_pass_k_posterior
from harness_uq.stats.posterior import BetaPosterior, DensityPosterior, DrawsPosterior, Posterior
from harness_uq.stats.power import minimum_detectable_effect, required_questions
from harness_uq.stats.student import student_mean
from harness_uq.stats.weighted import bayesian_bootstrap

__all__ = [
    "BetaPosterior",
    "DensityPosterior",
    "DrawsPosterior",
    "Posterior",
    "avg_at_n",
    "bayes_at_n",
    "bayes_at_n_posterior",
    "bayes_pass_k",
    "bayesian_bootstrap",
    "benchmark_posterior",
    "beta_posterior",
    "beta_shape_test",
    "binomial_interval",
    "bounded_posterior",
    "cluster_bootstrap",
    "cluster_robust",
    "clustered_bounded_posterior",
    "clustered_confusion_posterior",
    "clustered_importance_sample",
    "clustered_multiclass_posterior",
    "clustered_posterior",
    "confusion_posterior",
    "difference_posterior",
    "effective_counts",
    "finite_population_posterior",
    "g_pass_at_k",
    "group_posterior",
    "independent_posterior",
    "korn_graubard_wilson",
    "maj_at_k",
    "mg_pass_at_k",
    "minimum_detectable_effect",
    "multiclass_posterior",
    "nested_posterior",
    "paired_difference_posterior",
    "paired_posterior",
    "paired_posteriors",
    "pass_at_k",
    "pass_hat_k",
    "pass_k_posterior",
    "required_questions",
    "shared_items_posterior",
    "student_mean",
    "unbiased_pass_k_posterior",
]
