"""Answers that are more than a category: key-value records, the edges of a graph, strings and numbers."""
