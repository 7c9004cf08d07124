"""How the site reads our docstrings: *Implements*, *Guarantee* and *Why* are sections, too."""

from __future__ import annotations

import re
from typing import Any

import griffe

OWN = re.compile(r"^(Implements|Guarantee|Why): ", re.MULTILINE)
EXAMPLE = re.compile(r"^Example:$", re.MULTILINE)
CITED = re.compile(r"(?<![\w\])`])\[([A-Z][A-Za-z]*\d{2}[a-z]?)\](?![(\[:])")


class OwnSections(griffe.Extension):
    """Called by griffe for every object that it has read."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring before it is parsed."""
        if obj.docstring:
            text = EXAMPLE.sub("Examples:", obj.docstring.value)
            text = OWN.sub(r"**\1:** ", text)
            obj.docstring.value = CITED.sub(
                r"[\\[\1\\]](../../theory/references.md#\1)", text
            )
