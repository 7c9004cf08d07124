"""The address of a survey, as it is handed to respondents."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

from deniable.errors import InvalidRequest

_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Link:
    """What `https://survey.example/s/working-life?group=office#in_…` says.

    Attributes:
        base: the address of the collector.
        survey: the name of the survey.
        group: the respondent's group, if the link names one.
        code: the invitation; behind the `#`, so that it is not part of what is asked for.
    """

    base: str
    survey: str
    group: str | None = None
    code: str = field(default="", repr=False)

    @classmethod
    def read(cls, text: str) -> Link:
        """Read a link.

        Raises:
            InvalidRequest: not the link of a survey, or one that others could read along.
        """
        parts = urlsplit(text)
        head, _, name = parts.path.rpartition("/s/")
        if parts.scheme not in {"http", "https"} or not parts.hostname or not name or "/" in name:
            raise InvalidRequest(
                "this is not the link of a survey; expected one such as https://survey.example/s/working-life."
            )
        if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
            raise InvalidRequest(
                f"the link to {parts.hostname:.60} is not encrypted; expected https.",
                "Whoever is on the way could put another survey into the place of this one, with less protection.",
            )
        group = parse_qs(parts.query).get("group", [None])[0]
        return cls(f"{parts.scheme}://{parts.netloc}{head}", name, group, parts.fragment)
