"""Links to a survey: where it is, and which definition, so that nobody can put another one into its place.

    https://survey.example/s/working-life?group=office#definition=8f…&author=3c…&invitation=in_…

What stands behind the `#` stays with whoever follows the link: no browser sends it, and no log has it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

from deniable.errors import Incompatible, InvalidRequest, quoted
from deniable.survey.survey import Survey

# machines to which nothing has to be encrypted
_LOOPBACK = "localhost", "127.0.0.1", "::1"
_DIGITS = re.compile("[0-9a-f]{64}")
_BEHIND = ("definition", "author", "invitation")


@dataclass(frozen=True)
class Link:
    """A link to a survey.

    Attributes:
        base: the address of the collector.
        survey: the name of the survey.
        definition: the hash of its definition, 64 hexadecimal digits.
        group: the respondent's group; empty where the link names none.
        author: the public key of whoever signed the definition, 64 hexadecimal digits; empty where nobody did.
        invitation: the code of an invitation; empty where everybody may respond. `repr` does not show it.
    """

    base: str
    survey: str
    definition: str
    group: str = ""
    author: str = ""
    invitation: str = field(default="", repr=False)

    @classmethod
    def to_survey(
        cls,
        survey: Survey,
        base: str,
        *,
        group: str = "",
        author: str = "",
        invitation: str = "",
    ) -> Link:
        """Return the link to a survey at a collector.

        Raises:
            InvalidRequest: there is no such group.
        """
        if group:
            survey.group(group)
        return cls(
            base.rstrip("/"),
            survey.name,
            survey.hash.removeprefix("sha256:"),
            group,
            author,
            invitation,
        )

    @classmethod
    def read(cls, text: str) -> Link:
        """Read a link.

        Raises:
            InvalidRequest: not the link of a survey, one that others could read along, or one that does not say which
                definition it leads to.
        """
        url = urlsplit(text)
        head, _, name = url.path.rpartition("/s/")
        if (
            url.scheme not in {"http", "https"}
            or not url.hostname
            or not name
            or "/" in name
        ):
            raise InvalidRequest(
                "this is not the link of a survey; expected one such as https://survey.example/s/working-life."
            )
        if url.scheme == "http" and url.hostname not in _LOOPBACK:
            raise InvalidRequest(
                f"the link to {url.hostname:.60} is not encrypted; expected https.",
                "Whoever is on the way could put another survey into the place of this one, with less protection.",
            )
        group = parse_qs(url.query).get("group", [""])[0]
        return cls(
            f"{url.scheme}://{url.netloc}{head}",
            name,
            group=group,
            **_parse_fragment(url.fragment),
        )

    @property
    def text(self) -> str:
        """The link as people are given it. With an invitation in it, it admits whoever has it."""
        group = f"?{urlencode({'group': self.group})}" if self.group else ""
        behind = {
            name: getattr(self, name) for name in _BEHIND if getattr(self, name)
        }
        return f"{self.base}/s/{self.survey}{group}#{urlencode(behind)}"

    def check(self, survey: Survey) -> None:
        """Refuse a definition that is not the one that the link names.

        Raises:
            Incompatible: it is another one.
        """
        if survey.name != self.survey or survey.hash != f"sha256:{self.definition}":
            raise Incompatible(
                f"the collector has the definition {survey.hash:.19}… of {survey.name!r}; the link names "
                f"sha256:{self.definition:.12}… of {quoted(self.survey, 50)}.",
                "Nothing was answered. Ask whoever gave you the link: what is asked may have been changed.",
            )


def _parse_fragment(fragment: str) -> dict[str, str]:
    """Read what stands behind the `#`."""
    pairs = parse_qsl(fragment, keep_blank_values=True)
    parameters = dict(pairs)
    hashes = [
        parameters[name] for name in ("definition", "author") if name in parameters
    ]
    if (
        len(parameters) < len(pairs)
        or not set(parameters) <= set(_BEHIND)
        or not all(map(_DIGITS.fullmatch, hashes))
    ):
        raise InvalidRequest(
            "what stands behind the # of this link cannot be read; expected definition=…&author=…&invitation=…, "
            "each at most once, with 64 digits 0 to 9 and a to f for the first two.",
            "Copy the whole link.",
        )
    if "definition" not in parameters:
        raise InvalidRequest(
            "this link does not say which definition it leads to; expected #definition=… with its hash at the end.",
            "Copy the whole link. Without it a collector could put another survey into the place of this one.",
        )
    return parameters
