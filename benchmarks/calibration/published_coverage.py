"""Coverage at nominal 95 % read from the vector figures of Bowyer et al. (2025), for comparison.

Their curves are based on 100 values of theta with 200 data sets each and have Monte Carlo error. With two clusters of
five, an exact sum over the 36 possible data sets gives 0.426 for the clustered CLT, 0.441 for the bootstrap and 0.761
for Wilson, whereas the figure shows 0.409, 0.423 and 0.746. With six clusters it gives 0.738 for unclustered Bayes and
0.739 for Wilson, whereas the figure shows 0.749 and 0.747.
"""

from collections.abc import Mapping

FIGURES: Mapping[str, Mapping[str, float]] = {
    f"clustered/paper/clusters {clusters}×5": dict(
        zip(
            (
                "clustered-gamma",
                "published clustered IS",
                "published clustered CLT",
                "published unclustered Bayes",
                "unclustered wilson",
                "unclustered clopper-pearson",
                "published clustered bootstrap",
                "unclustered bootstrap",
            ),
            values,
            strict=True,
        )
    )
    for clusters, values in (
        (2, (0.951, 0.951, 0.409, 0.754, 0.746, 0.823, 0.280, 0.423)),
        (6, (0.954, 0.954, 0.720, 0.749, 0.747, 0.787, 0.363, 0.584)),
        (20, (0.948, 0.948, 0.860, 0.730, 0.730, 0.761, 0.421, 0.679)),
        (60, (0.950, 0.950, 0.916, 0.721, 0.722, 0.739, 0.437, 0.710)),
    )
} | {
    f"paired/paper/N {n}": dict(
        zip(
            ("latent-normal", "published paired IS", "unpaired bayes", "clt", "unpaired clt", "bootstrap"),
            values,
            strict=True,
        )
    )
    for n, values in (
        (3, (0.939, 0.939, 0.955, 0.638, 0.692, 0.586)),
        (10, (0.945, 0.945, 0.958, 0.882, 0.908, 0.863)),
        (30, (0.945, 0.945, 0.961, 0.929, 0.947, 0.924)),
        (100, (0.946, 0.946, 0.964, 0.944, 0.959, 0.944)),
    )
}
