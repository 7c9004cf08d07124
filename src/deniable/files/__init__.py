"""Files: columns that are read batch by batch, writers, and files that appear only when they are complete."""
