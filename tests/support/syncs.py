"""What a program had written, and not yet forced onto the disk, when something left it: read from its system calls.

A power cut may take all that. `strace` tells; where there is none, the tests that need it are skipped, and say so.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

LEFT = "it has left"

_CALL = re.compile(r"^(?:\[pid +\d+\] |\d+ +)?(\w+)\((.*)\) += (-?\d+)")
_OPENED = {"open", "openat", "creat"}
_WRITTEN = {"write", "pwrite64", "pwritev", "ftruncate"}
_FORCED = {"fsync", "fdatasync"}


def missing() -> str:
    """Return why system calls cannot be read; empty where they can."""
    program = shutil.which("strace")
    if program is None:
        return "left out: strace is not installed"
    tried = subprocess.run([program, "-e", "trace=none", sys.executable, "-c", ""], capture_output=True, check=False)
    return "" if tried.returncode == 0 else "left out: strace may not look at programs here"


def unforced(folder: Path, lines: str) -> list[list[str]]:
    """Run a program that says `leave()` whenever something leaves it; return what was not on the disk each time."""
    program = f"import sys\ndef leave():\n    sys.stdout.write({LEFT!r})\n    sys.stdout.flush()\n{lines}"
    log = folder.parent / "calls"
    which = ",".join(sorted(_OPENED | _WRITTEN | _FORCED | {"unlink", "unlinkat", "rename", "close"}))
    command = ["strace", "-f", "-s", "64", "-e", f"trace={which}", "-o", str(log), sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stderr
    return _read(log.read_text(errors="replace"), str(folder))


def _read(log: str, folder: str) -> list[list[str]]:
    names: dict[str, str] = {}  # of open files, by their numbers
    waiting: dict[str, str] = {}  # what was done to a file or a folder since it was forced
    found = []
    for call, words, result in (match.groups() for line in log.splitlines() if (match := _CALL.match(line))):
        file = words.split(",")[0]
        if call in _OPENED and int(result) >= 0:
            names[result] = re.findall('"([^"]*)"', words)[0]
        elif call == "close":
            names.pop(file, None)
        elif call in _WRITTEN and LEFT in words:
            found.append(sorted(f"{Path(name).name}: {what}" for name, what in waiting.items()))
        elif call in _WRITTEN and names.get(file, "").startswith(folder):
            if not names[file].endswith("-shm"):  # an index that programs share, made anew after a crash
                waiting[names[file]] = "written"
        elif call in {"unlink", "unlinkat", "rename"} and folder in words:
            gone = re.findall('"([^"]*)"', words)[0]
            waiting.pop(gone, None)
            waiting[str(Path(gone).parent)] = "an entry is gone"
        elif call in _FORCED:
            waiting.pop(names.get(file, ""), None)
    return found
