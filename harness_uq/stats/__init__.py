"""Statistics on plain arrays: numpy and scipy.special only, no files, no printing, no global state."""

from harness_uq.stats.classes.confusion import (
    clustered_confusion_posterior,
    confusion_posterior,
    confusion_score,
    f1_delta_interval,
)
from harness_uq.stats.classes.multiclass import (
    clustered_multiclass_posterior,
    confusion_matrix,
    multiclass_posterior,
    multiclass_score,
)
from harness_uq.stats.clusters.cluster_robust import cluster_bootstrap, cluster_robust, korn_graubard_wilson
from harness_uq.stats.clusters.clustered import clustered_importance_sample, clustered_posterior
from harness_uq.stats.clusters.nested import nested_posterior
from harness_uq.stats.clusters.score import clustered_score_posterior, nested_score_posterior
from harness_uq.stats.common.beta_mixture import BetaMixturePosterior
from harness_uq.stats.common.importance import adapted_proposal, importance_sample, pareto_k
from harness_uq.stats.common.posterior import BetaPosterior, DensityPosterior, DrawsPosterior, Posterior
from harness_uq.stats.common.student import student_mean
from harness_uq.stats.design.planning import allocate, expected_width, predict_width, trials_to_separate
from harness_uq.stats.design.power import (
    detection_power,
    minimum_detectable_effect,
    paired_variance,
    required_questions,
    unpaired_variance,
)
from harness_uq.stats.effects.components import VarianceComponent
from harness_uq.stats.effects.crossed import (
    CrossedPosterior,
    crossed_difference_posterior,
    crossed_posterior,
)
from harness_uq.stats.effects.groups import effective_counts, group_posterior, shared_items_posterior
from harness_uq.stats.effects.hierarchy import HierarchicalTable, hierarchical_table
from harness_uq.stats.effects.sampled import crossed_by_sampling
from harness_uq.stats.labels.judge import judge_corrected_difference, judge_corrected_posterior
from harness_uq.stats.labels.worth import JudgeWorth, judge_worth
from harness_uq.stats.looks.confidence_sequence import (
    ConfidenceSequence,
    confidence_sequence,
    paired_sequence,
)
from harness_uq.stats.looks.sequential import first_decision, log_e_value, running_log_e_value
from harness_uq.stats.means.bounded import (
    bounded_posterior,
    cluster_totals,
    clustered_bounded_posterior,
    rest_posterior,
    tight_copies,
)
from harness_uq.stats.means.skewed import skewed_mean
from harness_uq.stats.means.weighted import bayesian_bootstrap, corpus_statistic, resampled
from harness_uq.stats.pairs.corrections import benjamini_hochberg, holm
from harness_uq.stats.pairs.independent import (
    difference_posterior,
    fisher_odds_ratio,
    independent_posterior,
    miettinen_nurminen_interval,
    newcombe_interval,
)
from harness_uq.stats.pairs.joint_pairs import prob_better
from harness_uq.stats.pairs.joint_student import joint_means
from harness_uq.stats.pairs.paired import (
    paired_difference_posterior,
    paired_differences,
    paired_posterior,
    paired_posteriors,
)
from harness_uq.stats.pairs.paired_clustered import (
    cluster_tables,
    paired_clustered_difference_posterior,
    paired_clustered_posterior,
)
from harness_uq.stats.pairs.paired_frequentist import (
    clustered_paired_t,
    mcnemar_test,
    paired_t,
    score_correlation,
    tango_interval,
    variance_saved,
)
from harness_uq.stats.pairs.rank_sets import RankSets, rank_sets, rank_sets_of_normal
from harness_uq.stats.pairs.ranks import (
    default_prior_mass,
    expected_ranks,
    joint_draws,
    rank_posterior,
    ranking_z_score,
    tied_ranks,
)
from harness_uq.stats.proportion.binomial import beta_posterior, binomial_interval, finite_population_posterior
from harness_uq.stats.subsets.draw import Subset, draw_subset
from harness_uq.stats.subsets.estimate import SubsetEstimate, subset_estimate
from harness_uq.stats.subsets.further import draw_further
from harness_uq.stats.trials.bayes_at_n import avg_at_n, bayes_at_n, bayes_at_n_posterior
from harness_uq.stats.trials.benchmark import benchmark_posterior
from harness_uq.stats.trials.beta_shape import beta_shape_test
from harness_uq.stats.trials.checks import (
    cochran_q,
    effective_weights,
    identical_trials,
    missing_bounds,
    variance_components,
)
from harness_uq.stats.trials.pass_k import (
    bayes_pass_k,
    g_pass_at_k,
    maj_at_k,
    mg_pass_at_k,
    pass_at_k,
    pass_hat_k,
    pass_k_posterior,
)
from harness_uq.stats.trials.pass_k_unbiased import unbiased_pass_k_posterior

__all__ = [
    "BetaMixturePosterior",
    "BetaPosterior",
    "ConfidenceSequence",
    "CrossedPosterior",
    "DensityPosterior",
    "DrawsPosterior",
    "HierarchicalTable",
    "JudgeWorth",
    "Posterior",
    "RankSets",
    "Subset",
    "SubsetEstimate",
    "VarianceComponent",
    "adapted_proposal",
    "allocate",
    "avg_at_n",
    "bayes_at_n",
    "bayes_at_n_posterior",
    "bayes_pass_k",
    "bayesian_bootstrap",
    "benchmark_posterior",
    "benjamini_hochberg",
    "beta_posterior",
    "beta_shape_test",
    "binomial_interval",
    "bounded_posterior",
    "cluster_bootstrap",
    "cluster_robust",
    "cluster_tables",
    "cluster_totals",
    "clustered_bounded_posterior",
    "clustered_confusion_posterior",
    "clustered_importance_sample",
    "clustered_multiclass_posterior",
    "clustered_paired_t",
    "clustered_posterior",
    "clustered_score_posterior",
    "cochran_q",
    "confidence_sequence",
    "confusion_matrix",
    "confusion_posterior",
    "confusion_score",
    "corpus_statistic",
    "crossed_by_sampling",
    "crossed_difference_posterior",
    "crossed_posterior",
    "default_prior_mass",
    "detection_power",
    "difference_posterior",
    "draw_further",
    "draw_subset",
    "effective_counts",
    "effective_weights",
    "expected_ranks",
    "expected_width",
    "f1_delta_interval",
    "finite_population_posterior",
    "first_decision",
    "fisher_odds_ratio",
    "g_pass_at_k",
    "group_posterior",
    "hierarchical_table",
    "holm",
    "identical_trials",
    "importance_sample",
    "independent_posterior",
    "joint_draws",
    "joint_means",
    "judge_corrected_difference",
    "judge_corrected_posterior",
    "judge_worth",
    "korn_graubard_wilson",
    "log_e_value",
    "maj_at_k",
    "mcnemar_test",
    "mg_pass_at_k",
    "miettinen_nurminen_interval",
    "minimum_detectable_effect",
    "missing_bounds",
    "multiclass_posterior",
    "multiclass_score",
    "nested_posterior",
    "nested_score_posterior",
    "newcombe_interval",
    "paired_clustered_difference_posterior",
    "paired_clustered_posterior",
    "paired_difference_posterior",
    "paired_differences",
    "paired_posterior",
    "paired_posteriors",
    "paired_sequence",
    "paired_t",
    "paired_variance",
    "pareto_k",
    "pass_at_k",
    "pass_hat_k",
    "pass_k_posterior",
    "predict_width",
    "prob_better",
    "rank_posterior",
    "rank_sets",
    "rank_sets_of_normal",
    "ranking_z_score",
    "required_questions",
    "resampled",
    "rest_posterior",
    "running_log_e_value",
    "score_correlation",
    "shared_items_posterior",
    "skewed_mean",
    "student_mean",
    "subset_estimate",
    "tango_interval",
    "tied_ranks",
    "tight_copies",
    "trials_to_separate",
    "unbiased_pass_k_posterior",
    "unpaired_variance",
    "variance_components",
    "variance_saved",
]
