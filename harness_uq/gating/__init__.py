"""A gate for pipelines: a new system against a baseline, on several scores at one rate of error; and its self-test."""
