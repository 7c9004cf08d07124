"""What a Spark task does: rows of answers in, rows of responses out, as Arrow. It runs in the cluster's Python workers.

Nothing that is random travels: a task carries the design, and takes its keys where it runs. Python workers are forked
from a daemon, and a `Keystream` is built after the fork, once for each block.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.bulk.backend import choose_backend
from deniable.bulk.columns import mask_rows
from deniable.bulk.gradual import upgrade
from deniable.bulk.random_words import permutation
from deniable.designs import AnyDesign
from deniable.engines.local.engine import Local
from deniable.errors import InvalidAnswer, InvalidResponse
from deniable.tallies.responses import Responses

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK = 1 << 16
"""Rows that are drawn and shuffled at once, at least, where a task has as many."""


@dataclass(frozen=True)
class Task(ABC):
    """The work of a task, as it is sent to the workers.

    Attributes:
        design: what the responses that it sends are of.
        answers: which columns hold the answers: one, or one for each attribute.
        keep: which columns are carried over.
        options: those of `deniable.respond_all` that go with the design.
        shuffle: whether the rows of each block change their order.
        fast: whether compiled kernels are used, as `Local` takes it.
    """

    design: Any
    answers: tuple[str, ...]
    keep: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    shuffle: bool = True
    fast: bool | None = None

    @property
    @abstractmethod
    def read(self) -> tuple[str, ...]:
        """The columns that it reads, each once."""

    @abstractmethod
    def sent(self, block: pa.Table) -> Responses[Any]:
        """Draw a response for each row of a block."""

    def __call__(
        self, batches: Iterable[pa.RecordBatch]
    ) -> Iterator[pa.RecordBatch]:
        """Draw a response for each row.

        Raises:
            InvalidAnswer: an answer that the design does not know; the message does not repeat it.
            InvalidResponse: a stored response that is none of its design.
        """
        rows = 0
        for block in blocks(batches):
            try:
                yield self._batch(block)
            except (InvalidAnswer, InvalidResponse) as error:
                raise type(error)(
                    f"after row {rows:,} of a partition: {error.problem}", error.hint
                ) from None
            rows += block.num_rows
            # loads the kernels as soon as a task, and not a block, is worth it
            choose_backend(self.fast, rows)

    def columns(self) -> pa.Schema:
        """Return what the columns of responses are of type; no answer is needed for that, and nothing is drawn."""
        import pyarrow as pa

        return pa.schema(
            [
                (field.name, signed_type(field.type))
                for field in _nothing_of(self.design)
            ]
        )

    def given(self, block: pa.Table) -> Any:
        """Return the answers as `deniable.respond_all` takes them: a column; of several attributes one for each."""
        columns = [block.column(name) for name in self.answers]
        attributes = attributes_of(self.design)
        return (
            dict(zip(attributes, columns, strict=True)) if attributes else columns[0]
        )

    def _batch(self, block: pa.Table) -> pa.RecordBatch:
        import pyarrow as pa

        drawn = self.sent(block).to_arrow()
        columns = [column.cast(signed_type(column.type)) for column in drawn.columns]
        columns += [block.column(name) for name in self.keep]
        arrays: Any = [column.combine_chunks() for column in columns]
        batch = pa.record_batch(arrays, names=[*drawn.column_names, *self.keep])
        return batch.take(permutation(len(batch))) if self.shuffle else batch


@dataclass(frozen=True)
class Drawing(Task):
    """A response for each answer.

    Attributes:
        cohorts: of strings: which column holds the cohorts; None to draw them.
    """

    cohorts: str | None = None

    @property
    def read(self) -> tuple[str, ...]:
        cohorts = () if self.cohorts is None else (self.cohorts,)
        return tuple(dict.fromkeys((*self.answers, *self.keep, *cohorts)))

    def sent(self, block: pa.Table) -> Responses[Any]:
        options = dict(self.options)
        if self.cohorts is not None:
            options["cohorts"] = block.column(self.cohorts).to_numpy()
        return Local(fast=self.fast).respond_all(
            self.design, self.given(block), **options
        )


@dataclass(frozen=True)
class Raising(Task):
    """A response of the last stage of a ladder, for each answer and the stored responses of the stages before.

    Attributes:
        stored: what the stored responses are of: a design, or the ladder of all stages but the last.
    """

    stored: AnyDesign | None = None

    @property
    def read(self) -> tuple[str, ...]:
        assert self.stored is not None
        return (*self.stored.columns, *self.answers, *self.keep)

    def sent(self, block: pa.Table) -> Responses[Any]:
        assert self.stored is not None
        before = stored_responses(self.stored, block)
        *_, last = columns = list(before.columns.values())
        finer = upgrade(
            self.design.relaxations[-1],
            mask_rows(last, before.missing),
            self.given(block),
            fast=self.fast,
            **self.options,
        )
        columns.append(np.ma.getdata(finer))
        responses = dict(zip(self.design.columns, columns, strict=True))
        return Responses(self.design, responses, before.missing)


def stored_responses(design: AnyDesign, table: pa.Table) -> Responses[Any]:
    """Return rows of Spark as the responses that they are.

    Raises:
        InvalidResponse: a number or a row that is none of the design.
    """
    import pyarrow as pa

    plain = _nothing_of(design)
    try:
        columns = [table.column(field.name).cast(field.type) for field in plain]
    except pa.ArrowInvalid:
        raise InvalidResponse(
            f"a column does not hold responses of {design!r}; expected its codes or packed rows."
        ) from None
    return Responses.from_arrow(pa.table(columns, schema=plain), design)


def _nothing_of(design: AnyDesign) -> pa.Schema:
    """Return the schema of a design's responses, which is that of no responses."""
    attributes = attributes_of(design)
    answers: Any = {name: [] for name in attributes} if attributes else []
    return Local(fast=False).respond_all(design, answers).to_arrow().schema


def attributes_of(design: Any) -> tuple[str, ...]:
    """Return the attributes that each have a column of answers; of a ladder those of its stages."""
    first: AnyDesign = getattr(design, "designs", (design,))[0]
    return first.answer_columns


def blocks(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Join batches to blocks of at least `BLOCK` rows, but for the last one."""
    import pyarrow as pa

    pending: list[pa.RecordBatch] = []
    for batch in batches:
        pending.append(batch)
        if sum(map(len, pending)) >= BLOCK:
            yield pa.Table.from_batches(pending)
            pending = []
    if sum(map(len, pending)):
        yield pa.Table.from_batches(pending)


def signed_type(kind: Any) -> Any:
    """Return the signed Arrow type for codes or packed rows: Spark has neither unsigned nor fixed-size types.

    Example:
        >>> import pyarrow as pa
        >>> signed_type(pa.uint8()), signed_type(pa.binary(4)), signed_type(pa.int64())
        (DataType(int16), DataType(binary), DataType(int64))
    """
    import pyarrow as pa

    wider: dict[Any, Any] = {
        pa.uint8(): pa.int16(),
        pa.uint16(): pa.int32(),
        pa.uint32(): pa.int64(),
        pa.uint64(): pa.decimal128(20),
    }
    return (
        pa.binary() if pa.types.is_fixed_size_binary(kind) else wider.get(kind, kind)
    )
