"""The result store: task logs and estimates in Parquet files, so that unchanged logs are not read again."""
