"""Databases: files that are on the disk when a transaction ends."""
