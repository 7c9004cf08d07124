"""A panel: many respondents' answers with whoever may hold them, released in stages, in SQLite or Postgres."""

from __future__ import annotations

from deniable.release.panel.panel import Panel, Releases

__all__ = ["Panel", "Releases"]
