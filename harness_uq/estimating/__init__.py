"""From task logs to estimates: problem, choice of the method, method, result."""
