"""Blackwell's order: which design tells less than which, and how a response is raised from one to the next."""
