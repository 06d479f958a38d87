"""Reading and estimating many logs, in this process, in parallel processes or on a cluster."""
