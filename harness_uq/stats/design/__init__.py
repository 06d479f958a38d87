"""Planning: power, required numbers of questions, and allocation of a budget."""
