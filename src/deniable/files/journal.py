"""A job in parts, each of which is finished once: what is planned and what is finished, kept beside the output.

    responses/            what the job gives out: finished parts, and never anything else
    responses.job/        its owner's alone: it tells where the answers are, and belongs beside them
        plan.json         what the job is; written before the first draw
        finished.ndjson   a line for each finished part, forced onto the disk before the part is given out
        part-00007.csv    a part that is being written, or waits to be given out

A part is written and forced onto the disk in `responses.job`; then its line is; then it is moved to `responses`. So a
part that anybody can have seen has its line, and a line has its part: whoever begins again after a kill or a power cut
moves what has a line, erases what has none, and draws only what has none.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from deniable.errors import InvalidRequest, UnreadableFile
from deniable.files.atomic import atomic_write, file_lock, sync_folder

_PLAN, _FINISHED, _LOCK = "plan.json", "finished.ndjson", "lock"


class Journal:
    """An open job, which no other program works on.

    Attributes:
        plan: what it is.
        finished: what is recorded of each finished part, by its name.
    """

    def __init__(
        self, out: Path, plan: dict[str, Any], finished: dict[str, dict[str, Any]]
    ) -> None:
        self.plan = plan
        self.finished = finished
        self._out = out
        self._folder = folder_of(out)

    @contextmanager
    def part(
        self, name: str, record: Callable[[], Mapping[str, Any]]
    ) -> Iterator[IO[bytes]]:
        """Open a part for writing; when all went well it is recorded and given out.

        Args:
            name: of the part.
            record: asked at the end for what is recorded of it.
        """
        assert name not in self.finished, "a part is finished once"
        with atomic_write(self._folder / name) as file:
            yield file
        line = {
            "part": name,
            "bytes": (self._folder / name).stat().st_size,
            **record(),
        }
        with (self._folder / _FINISHED).open("ab") as log:
            log.write(json.dumps(line).encode() + b"\n")
            log.flush()
            os.fsync(log.fileno())
        self.finished[name] = line
        self._give_out(name)

    def _give_out(self, name: str) -> None:
        (self._folder / name).rename(self._out / name)
        sync_folder(self._out)
        sync_folder(self._folder)

    def settle(self) -> None:
        """Bring a job that was interrupted to where it can go on: give out what is recorded, erase what is not.

        Raises:
            UnreadableFile: a part that is recorded is gone or has changed, or there is one that is not.
        """
        for name, line in self.finished.items():
            if (self._folder / name).exists():
                self._give_out(name)
            elif (
                not (self._out / name).is_file()
                or (self._out / name).stat().st_size != line["bytes"]
            ):
                raise UnreadableFile(
                    f"{name} was finished, and is not in {self._out} as it was written; expected it there.",
                    "Put it back: to draw it again would give its answers a second response.",
                )
        for path in self._folder.iterdir():
            if path.name not in (_PLAN, _FINISHED, _LOCK):
                path.unlink()
        strange = [
            path.name
            for path in self._out.iterdir()
            if path.name not in self.finished
        ]
        if strange:
            raise UnreadableFile(
                f"{self._out} holds {strange[0]}, which this job has not written; expected its parts."
            )


def folder_of(out: Path) -> Path:
    """Return where the journal of a job lies."""
    return out.with_name(f"{out.name}.job")


@contextmanager
def begun(out: Path, plan: Callable[[], dict[str, Any]]) -> Iterator[Journal]:
    """Begin a job, or go on with one that was begun.

    Args:
        out: the folder that it fills.
        plan: asked for what the job is, where none was begun.

    Raises:
        InvalidRequest: there is a folder without a journal, or another program works on the job.
        UnreadableFile: what the journal says and what is there differ.
    """
    folder = folder_of(out)
    if out.exists() and not folder.exists():
        raise InvalidRequest(
            f"{out} exists already, and {folder.name}, the journal of a job, is not beside it; expected a new name.",
            "Responses that were drawn are not drawn again.",
        )
    folder.mkdir(mode=0o700, exist_ok=True)
    with file_lock(folder / _LOCK) as free:
        if not free:
            raise InvalidRequest(
                f"another program is at work on {out}; expected to be the only one."
            )
        if not (folder / _PLAN).exists():
            _write_plan(folder, plan())
        out.mkdir(exist_ok=True)
        sync_folder(out.parent)
        journal = Journal(out, _read(folder / _PLAN), _lines(folder / _FINISHED))
        journal.settle()
        yield journal


def _write_plan(folder: Path, plan: dict[str, Any]) -> None:
    """Write what a job begins with. The list of parts is there from the first, so that its name is on the disk, too."""
    with atomic_write(folder / _FINISHED, overwrite=True, private=True):
        pass
    with atomic_write(folder / _PLAN, private=True) as file:
        file.write(json.dumps(plan, indent=1).encode())


def _read(path: Path) -> dict[str, Any]:
    try:
        plan: dict[str, Any] = json.loads(path.read_bytes())
    except ValueError:
        raise UnreadableFile(
            f"{path} is damaged; expected the plan of a job."
        ) from None
    return plan


def _lines(path: Path) -> dict[str, dict[str, Any]]:
    """Read the lines that are complete, and cut off the beginning of one that is not: its part was not given out."""
    content = path.read_bytes()
    complete = content[: content.rfind(b"\n") + 1]
    if len(complete) < len(content):
        os.truncate(path, len(complete))
    try:
        lines = [json.loads(line) for line in complete.splitlines()]
        return {line["part"]: line for line in lines}
    except (ValueError, KeyError, TypeError):
        raise UnreadableFile(
            f"{path} is damaged; expected a line for each finished part."
        ) from None
