"""Citations of the methods behind results, and a paragraph on these methods for a paper."""
