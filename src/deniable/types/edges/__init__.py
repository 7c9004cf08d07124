"""A weighted bipartite graph in which every person has one edge: which item is known, its weight is protected."""
