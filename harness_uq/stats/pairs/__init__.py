"""Two systems and many: differences, joint posteriors, ranks."""
