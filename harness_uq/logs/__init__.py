"""What logs say of tasks, validated once: data, and which run speaks for a system."""
