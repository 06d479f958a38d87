"""Functions of a confusion matrix."""
