"""Tables of scores as logs: CSV, TSV, JSON Lines, Parquet and data frames, a score a row."""
