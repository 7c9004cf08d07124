"""Write what a lock installs as a CycloneDX document: `python scripts/sbom.py locks/container.txt`.

The same lock gives the same document, to the byte.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tomllib
import uuid
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
NAME = "deniable"
PINNED = re.compile(
    r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^ ;\\]+)(?: ; ([^\\]+?))? ?\\?$",
    re.MULTILINE,
)


def components(lock: str) -> list[dict[str, Any]]:
    """Every package of a lock, with where it applies if not everywhere."""
    found = []
    for name, version, marker in PINNED.findall(lock):
        purl = f"pkg:pypi/{re.sub(r'[-_.]+', '-', name).lower()}@{version}"
        each: dict[str, Any] = {
            "type": "library",
            "bom-ref": purl,
            "name": name,
            "version": version,
            "purl": purl,
        }
        if marker:
            each["properties"] = [{"name": "python:marker", "value": marker.strip()}]
        found.append(each)
    return found


def document(lock: bytes, name: str) -> dict[str, Any]:
    """The whole document of a lock."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    digest = hashlib.sha256(lock).hexdigest()
    own = f"pkg:pypi/{NAME}@{project['version']}"
    parts = components(lock.decode())
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, digest)}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": own,
                "name": NAME,
                "version": project["version"],
                "purl": own,
                "licenses": [{"license": {"id": project["license"]}}],
            },
            "properties": [
                {"name": "lock", "value": name},
                {"name": "lock:sha256", "value": digest},
            ],
        },
        "components": parts,
        "dependencies": [
            {"ref": own, "dependsOn": [each["bom-ref"] for each in parts]}
        ],
    }


if __name__ == "__main__":
    path = Path(sys.argv[1])
    print(
        json.dumps(
            document(path.read_bytes(), path.name), indent=1, ensure_ascii=False
        )
    )
