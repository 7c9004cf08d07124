"""Two questions that the same people answered, each with its own design: their joint table and their association."""
