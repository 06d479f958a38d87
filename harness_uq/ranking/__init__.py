"""Which of several systems is best."""
