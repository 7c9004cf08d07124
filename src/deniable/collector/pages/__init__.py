"""Pages: each builds one frozen context, which a template renders."""
