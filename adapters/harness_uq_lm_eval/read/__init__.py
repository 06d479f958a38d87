"""Reading the logs of lm-eval, whichever version wrote them."""
