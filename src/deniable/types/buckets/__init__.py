"""Numbers in up to 1,024 buckets of a range: a tree of which every respondent answers one level; quantiles."""
