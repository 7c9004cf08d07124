"""Responses in the tables of databases: their forms, the dialects of SQL, and the counts that a query returns."""
