"""Gate a pipeline: test a new system against a baseline with a controlled error rate, and self-test the gate."""
