"""Every table, example and figure of the five papers again: what they print against what the library says.

No formula stands in this folder. A document's package says in which setting a value was printed or a figure drawn, and
asks the library for it; what the papers print is data, in `printed.json`.
"""

from __future__ import annotations
