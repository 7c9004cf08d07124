"""A warehouse as an engine: one query counts the responses where they are, and what it returns becomes a tally here.

query        a design and the name of a table → the query, for DuckDB, Postgres or Spark
read_counts  what the query returned → the tally that `deniable.tally` would have made, exactly
connections  both, on a connection; `engines.duckdb` and `engines.postgres` bring one

There is nothing here that draws: a warehouse holds responses, and an answer never goes there. Draw where the answers
are, with `deniable.respond_all` or `engines.spark`.
"""

from __future__ import annotations

from deniable.engines.sql.counts import read_counts
from deniable.engines.sql.queries import query

__all__ = ["query", "read_counts"]
