"""Routes: each parses, calls one step and renders."""
