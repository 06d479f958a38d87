"""Simulations of coverage and width of the intervals, and of the calibration of posteriors."""
