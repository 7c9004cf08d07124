"""The types of question: a folder for each, with the same file names in all of them."""
