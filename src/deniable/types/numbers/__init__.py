"""Numbers in a known range: rounded once to a level of it, kept, and released in stages; mean, spread and quantiles."""
