"""Answers to golden entries, a module for each area."""
