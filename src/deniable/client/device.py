"""What every device does: keep to one survey, and close its file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Any, Self

from deniable.client.state import State
from deniable.survey import Survey

KEY = 16
"""Bytes of the key that a respondent draws, as the collector expects them."""


class Device(ABC):
    """A device with responses to one survey."""

    _state: State

    @property
    def survey(self) -> Survey:
        """The definition of the survey.

        Raises:
            NotSent: it was never fetched, and the collector cannot be reached.
        """
        return self._state.survey

    def _submission(self, key: str, responses: list[dict[str, str]]) -> dict[str, Any]:
        """Return what one respondent sends."""
        group = self._state.link.group
        body = {"survey": self.survey.hash, "key": key, "responses": responses}
        return body if group is None else body | {"group": group}

    @abstractmethod
    def close(self) -> None:
        """Close the file."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
