"""What the data say about the scores of one, two or several systems: marginals, contrasts and joint posteriors."""
