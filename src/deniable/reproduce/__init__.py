"""Every table, example and figure of the five documents again: what they print against what the library says.

No formula stands in this folder. A document's package says in which setting a value was printed or a figure drawn, and
asks the library for it; what the documents print is data, in `printed.json`.
"""

from __future__ import annotations
