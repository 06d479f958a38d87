"""Analyze graders: agreement with people, differences between graders, and preference for their own family."""
