"""Categories: one of a few labels, or one of each attribute."""
