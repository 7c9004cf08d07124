"""Speeds as ratios, each against a baseline measured in the same run."""
