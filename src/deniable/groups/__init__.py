"""Groups of people who were asked with one design: their tallies, and estimates that compare them."""
