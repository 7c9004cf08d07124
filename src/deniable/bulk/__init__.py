"""Draws and counts over arrays: a keystream of random words, prepared draws, kernels, and columns of codes."""
