"""What every room of `stats` stands on: arrays, roots, modes, posteriors, importance sampling."""
