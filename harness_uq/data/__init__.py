"""The data model: task logs and operations on them, without input or output."""
