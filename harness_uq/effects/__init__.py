"""What else a score depends on: seeds, prompts, judges and other settings that differ between runs of one model."""
