"""Methods from the literature with which the calibration and the benchmarks compare those of the package."""
