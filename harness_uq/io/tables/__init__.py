"""Scores in tables: CSV, TSV, JSON Lines and Parquet files, and data frames."""
