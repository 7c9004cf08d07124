"""The metadata of the distribution `deniable`, which is derived from that of `deniable-core`."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

ROOT = Path(__file__).resolve().parents[1]
SAME = ("version", "description", "requires-python", "keywords", "classifiers")


class CustomMetadataHook(MetadataHookInterface):
    """Adds what both distributions share, the pin of the core, and an extra for each extra of the core."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill the fields that the project declares dynamic."""
        core = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
            "project"
        ]
        name, version = core["name"], core["version"]
        metadata |= {field: core[field] for field in SAME}
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": (ROOT / core["readme"]).read_text(encoding="utf-8"),
        }
        metadata["dependencies"] = [f"{name}[standard]=={version}"]
        metadata["optional-dependencies"] = {
            extra: [f"{name}[{extra}]=={version}"]
            for extra in core["optional-dependencies"]
            if extra != "standard"
        }
