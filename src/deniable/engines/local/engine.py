"""This machine as an engine, for every type of design: answers → `Responses`, and `Responses` → a tally."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any

from deniable.bulk.columns import Responder
from deniable.designs import Design
from deniable.engines import Engine
from deniable.errors import InvalidRequest
from deniable.tallies.responses import Responses
from deniable.types import operation

if TYPE_CHECKING:
    from deniable.designs import AnyDesign

__all__ = ["Local"]


@dataclass(frozen=True)
class Local(Engine):
    """This machine: NumPy always, compiled kernels with the `fast` extra, threads, constant memory.

    Attributes:
        threads: how many to draw and count on.
        fast: True to demand compiled kernels, False to do without; by default they are used where Numba is installed
            and either loaded already or worth loading. The responses do not depend on it.

    Example:
        >>> from deniable.designs import warner
        >>> engine = Local(fast=False)
        >>> engine.tally(warner(1), engine.respond_all(warner(1), ["yes", "no", None])).missing
        1
    """

    threads: int = 1
    fast: bool | None = None

    def respond_all(
        self, design: AnyDesign, answers: object, **options: Any
    ) -> Responses[Any]:
        return self._call(  # type: ignore[no-any-return]
            operation(design, "respond_all"), (design, answers), options
        )

    def respond_stream(
        self, design: Design, chunks: Iterable[Any], **options: Any
    ) -> Iterator[Responses[Design]]:
        responder = Responder(
            design, threads=self.threads, fast=self.fast, **options
        )
        return map(responder.respond, chunks)

    def tally(self, design: AnyDesign, responses: object, **options: Any) -> Any:
        if isinstance(responses, Responses):
            responses.check(design)
            return self._call(operation(design, "count_sent"), (responses,), options)
        if not isinstance(design, Design):
            raise InvalidRequest(
                f"these are responses of a {type(design).__name__} without their design; expected Responses.",
                "Count them with deniable.tally(design, responses).",
            )
        return self._call(
            operation(design, "tally_column"), (design, responses), options
        )

    def _call(
        self,
        function: Callable[..., Any],
        given: tuple[Any, ...],
        options: Mapping[str, Any],
    ) -> Any:
        """Call with this engine's settings, as far as a function knows them."""
        parameters = signature(function).parameters
        for name in options:
            if name not in parameters:
                raise InvalidRequest(
                    f"{name} does not go with this type of design; expected none of it."
                )
        settings = {"threads": self.threads, "fast": self.fast}
        return function(
            *given,
            **{name: settings[name] for name in settings if name in parameters}
            | dict(options),
        )
