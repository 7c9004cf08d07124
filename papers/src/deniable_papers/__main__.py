"""`python -m deniable_papers` is `deniable-papers`."""

from __future__ import annotations

from deniable_papers.cli import main

if __name__ == "__main__":
    main()
