"""Several attributes of which every respondent answers a few, drawn at random, with all of ε."""
