"""The exhibits of a document, made once with few repetitions and the same bytes in every run."""

from __future__ import annotations

from functools import cache

from deniable.attacks.simulated import generator
from deniable_papers.run import document
from deniable_papers.values import Content, Setting
from tests.support.seeded import seeded

FEW = 100


@cache
def made(name: str) -> dict[str, Content]:
    """Return what each exhibit shows, by the name of the exhibit."""
    setting = Setting(generator(seeded(f"exhibits of {name}")), FEW)
    return {
        exhibit.name: exhibit.make(setting) for exhibit in document(name).exhibits
    }
