"""What a power cut leaves of a folder: read from the system calls of a program that writes there.

What was written is lost until its file is forced onto the disk, and a name that was made, changed or taken away is as
before until its folder is. `strace` tells; where there is none, the tests that need it are skipped, and say so.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

LEFT = b"it has left: "

_CALLS = (
    "open", "openat", "creat", "close", "lseek", "write", "writev", "pwrite64", "pwritev", "ftruncate", "fsync",
    "fdatasync", "rename", "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat",
)  # fmt: skip
_CALL = re.compile(r"^(\d+) +(\w+)\((.*)\) += (-?\d+)")
_TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
_FILE = re.compile(r"^(\d+)<((?:\\x[0-9a-f]{2})+)>")


def missing() -> str:
    """Return why system calls cannot be read; empty where they can."""
    program = shutil.which("strace")
    if program is None:
        return "left out: strace is not installed"
    tried = subprocess.run(
        [program, "-e", "trace=none", sys.executable, "-c", ""],
        capture_output=True,
        check=False,
    )
    return (
        ""
        if tried.returncode == 0
        else "left out: strace may not look at programs here"
    )


@dataclass
class Disk:
    """A folder as programs see it, and as a power cut would leave it. Files are known by number, as by a file system.

    Attributes:
        names: the files by their paths.
        written: what is in each file.
        kept_names: the paths that are on the disk.
        kept: what of each file is on the disk.
    """

    folder: str
    names: dict[str, int] = field(default_factory=dict)
    written: dict[int, bytearray] = field(default_factory=dict)
    kept_names: dict[str, int] = field(default_factory=dict)
    kept: dict[int, bytes] = field(default_factory=dict)
    offsets: dict[str, int] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=count)

    def call(self, name: str, words: str, result: int) -> None:
        """Do what a call that went well has done."""
        file, texts = (
            _FILE.match(words),
            [_bytes(each) for each in _TEXT.findall(words)],
        )
        path = _bytes(file[2]).decode() if file else ""
        if name in {"open", "openat", "creat"}:
            self._open(texts[0].decode(), words, result)
        elif name == "lseek" and file:
            self.offsets[file[1]] = result
        elif (
            name in {"write", "writev", "pwrite64", "pwritev"}
            and file
            and path in self.names
        ):
            at = (
                int(words.rpartition(",")[2])
                if name.startswith("p")
                else self.offsets.get(file[1], 0)
            )
            self._write(self.names[path], at, b"".join(texts)[:result])
            if not name.startswith("p"):
                self.offsets[file[1]] = at + result
        elif name == "ftruncate" and path in self.names:
            whole, size = (
                self.written[self.names[path]],
                int(words.rpartition(",")[2]),
            )
            whole[size:] = bytes(max(0, size - len(whole)))
        elif name in {"fsync", "fdatasync"}:
            self._force(path)
        elif texts and name.startswith(("rename", "link", "unlink")):
            self._rename(name, *(each.decode() for each in texts))

    def _open(self, path: str, words: str, number: int) -> None:
        if path.startswith(f"{self.folder}/"):
            if path not in self.names and "O_CREAT" in words:
                self.names[path] = next(self.numbers)
                self.written[self.names[path]] = bytearray()
            elif path in self.names and "O_TRUNC" in words:
                self.written[self.names[path]].clear()
        self.offsets[str(number)] = (
            len(self.written.get(self.names.get(path, -1), b""))
            if "O_APPEND" in words
            else 0
        )

    def _write(self, number: int, at: int, text: bytes) -> None:
        whole = self.written[number]
        whole.extend(bytes(max(0, at - len(whole))))
        whole[at : at + len(text)] = text

    def _force(self, path: str) -> None:
        if path in self.names:
            self.kept[self.names[path]] = bytes(self.written[self.names[path]])
        else:  # a folder, whose names are forced onto the disk, and not those of folders in it
            elsewhere = {
                name: number
                for name, number in self.kept_names.items()
                if str(Path(name).parent) != path
            }
            self.kept_names = elsewhere | {
                n: at for n, at in self.names.items() if str(Path(n).parent) == path
            }

    def _rename(self, name: str, old: str, new: str = "") -> None:
        if old in self.names:
            number = (
                self.names[old] if name.startswith("link") else self.names.pop(old)
            )
            if new:
                self.names[new] = number

    def left(self) -> dict[str, bytes]:
        """Return the files that a power cut leaves. What programs share in memory is made anew."""
        known = (
            (path.removeprefix(f"{self.folder}/"), number)
            for path, number in self.kept_names.items()
        )
        return {
            name: self.kept.get(number, b"")
            for name, number in known
            if not name.endswith("-shm")
        }


def cuts(folder: Path, lines: str) -> list[tuple[Any, dict[str, bytes]]]:
    """Run a program that says `leave(…)` whenever something leaves it.

    Returns:
        For each time, what left, and which files a power cut at that moment would have left.
    """
    program = f"import json, os\ndef leave(what):\n    os.write(1, {LEFT!r} + json.dumps(what).encode())\n{lines}"
    log = folder.parent / "calls"
    traced = [
        "-f",
        "-y",
        "-xx",
        "-s",
        "1000000",
        "-e",
        f"trace={','.join(f'?{each}' for each in _CALLS)}",
    ]
    command = ["strace", *traced, "-o", str(log), sys.executable, "-c", program]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 0, done.stderr
    return list(_replayed(_whole_lines(log), Disk(str(folder))))


def _whole_lines(log: Path) -> Iterator[str]:
    """Yield calls as lines, also those in the middle of which another thread was told of."""
    begun: dict[str, str] = {}
    with log.open(errors="replace") as lines:
        for line in lines:
            thread, _, rest = line.rstrip("\n").partition(" ")
            if rest.endswith("<unfinished ...>"):
                begun[thread] = rest.removesuffix("<unfinished ...>").lstrip()
            elif resumed := re.match(r" *<\.\.\. \w+ resumed>(.*)", rest):
                yield f"{thread} {begun.pop(thread, '')}{resumed[1]}"
            else:
                yield f"{thread} {rest.lstrip()}"


def _replayed(
    lines: Iterator[str], disk: Disk
) -> Iterator[tuple[Any, dict[str, bytes]]]:
    for line in lines:
        found = _CALL.match(line)
        if found is None or int(found[4]) < 0:
            continue
        texts = (
            _TEXT.findall(found[3])
            if found[2] == "write" and found[3].startswith("1<")
            else []
        )
        if texts and (told := _bytes(texts[0])).startswith(LEFT):
            yield json.loads(told.removeprefix(LEFT)), disk.left()
        else:
            disk.call(found[2], found[3], int(found[4]))


def _bytes(text: str) -> bytes:
    return bytes.fromhex(text.replace("\\x", ""))
