"""A Spark cluster as an engine: a frame of answers → files of responses, and a frame of responses → a tally.

respond_all   a frame of answers → responses, stored
raise_all     stored responses and a frame of answers → responses of the next stage, stored
tally         a frame of responses → a tally, counted on the cluster

A frame of Spark is a recipe. Whoever counts it twice runs it twice, a task that fails is run again, and a slow one is
run twice at a time: each time responses would be drawn anew, and whoever sees two of them learns more than ε allows.
So nobody is handed a frame that draws: responses are drawn in one job, whose output is published once and for all (see
`commits`), and what is returned is a frame that reads it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from deniable import errors
from deniable.designs import AnyDesign
from deniable.engines.asked_columns import AskedColumns, check_keep
from deniable.engines.spark.commits import Output
from deniable.engines.spark.tasks import Drawing, Raising, Task, attributes_of
from deniable.engines.sql.connections import count_on
from deniable.engines.sql.queries import Names, several
from deniable.errors import (
    DeniableError,
    Incompatible,
    InvalidRequest,
    MissingExtra,
    read_names,
)
from deniable.files.columns import DESIGN
from deniable.order.ladders import Ladder
from deniable.types.surfaces import check_surface

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

__all__ = ["raise_all", "respond_all", "tally"]


def respond_all(
    design: AnyDesign,
    frame: DataFrame,
    column: str | None = None,
    *,
    out: str,
    keep: Sequence[str] = (),
    codes: bool | None = None,
    cohorts: str | None = None,
    keep_order: bool = False,
    fast: bool | None = None,
) -> DataFrame:
    """Draw a response for each answer of a frame, write the responses as Parquet, and return a frame that reads them.

    Guarantee: drawn with exactly the integer weights from which the design's ε is derived, in the cluster's workers,
    under keys that each task takes fresh from its operating system. Whatever fails and is run again, one response to
    each answer can ever be read below `out`, as `commits` says. Every call draws anew, and reveals as much again.

    Args:
        design: what to draw with, of any type but a deck, which is dealt to all people at once.
        frame: the answers. It must give the same rows each time it is read: what is drawn with `rand()`, say, is
            written first.
        column: which column holds the answers: text or codes; numbers; strings; of items with weights a map from item
            to weight. For several attributes none: each has a column of its name.
        out: the folder to write, on a file system that all workers see. There must be nothing yet; it appears when it
            is complete.
        keep: columns to carry over, such as a region. They are not protected in any way.
        codes: what whole numbers are, as in `deniable.respond_all`.
        cohorts: of strings: which column holds the respondents' cohorts; by default they are drawn.
        keep_order: leave the rows of a partition in their order, which may tell about the answers; by default they are
            shuffled in blocks, and what is kept goes with them.
        fast: True to demand compiled kernels of the workers, False to do without.

    Returns:
        The responses: the columns of `deniable.Responses`, those that were kept, and `design`, its hash. Codes are
        whole numbers, packed rows binary, and what is missing is null.

    Raises:
        InvalidAnswer: an answer that the design does not know; the message does not repeat it.
        InvalidRequest: a column that is not there or may not be kept, a folder that exists, a frame that changes with
            each reading, or a cluster that does not commit as it must.
        MissingExtra: pyspark is not installed.
    """
    _check_pyspark()
    check_surface(
        design, "Spark", "Draw on one machine: dn.respond_all(design, answers)."
    )
    options = {} if codes is None else {"codes": codes}
    drawing = Drawing(
        design,
        _answers(design, column),
        read_names(keep, "keep"),
        options,
        not keep_order,
        fast,
        cohorts,
    )
    _check_frame(frame, drawing)
    return _publish(frame, drawing, Output(frame.sparkSession, out))


def raise_all(
    ladder: Ladder,
    responses: str,
    answers: DataFrame,
    column: str | None = None,
    *,
    on: Names,
    codes: bool | None = None,
    keep_order: bool = False,
    fast: bool | None = None,
) -> DataFrame:
    """Raise stored responses to the last stage of a ladder, and store what comes out beside them.

    What `respond_all` stored with the first design of the ladder at PATH is raised to PATH.stage-1, that to
    PATH.stage-2, and so on. There is one place for each stage, so that none is ever drawn twice, whatever fails, and
    whoever calls again: two raised responses would reveal more than the ladder's ε.

    Guarantee: all stages together have the ε of the last one. Drawn and published as by `respond_all`.

    Args:
        ladder: all stages up to the one that is drawn now.
        responses: PATH, the folder that `respond_all` has written.
        answers: a frame with the answers of those who release more. Whoever has no stored response is passed over; all
            who are raised to a stage are raised in one call.
        column: which column holds the answers, as in `respond_all`.
        on: which columns tell to whom an answer and a stored response belong. They were kept by `respond_all`, and
            nobody may occur twice.
        codes, keep_order, fast: as in `respond_all`.

    Returns:
        The responses: `stage_1`, `stage_2`, …, what was kept with the stored ones, and `design`, the ladder's hash.

    Raises:
        InvalidAnswer: an answer that the design does not know; the message does not repeat it.
        InvalidRequest: this stage was drawn already, the one before was not, or somebody occurs twice; and as
            `respond_all`.
        Incompatible: the stored responses are not of the stages before.
        UnreadableFile: the stored responses are not those of one job.
        MissingExtra: pyspark is not installed.
    """
    _check_pyspark()
    *_, before, after = [
        Output(answers.sparkSession, path) for path in _stages(ladder, responses)
    ]
    after.check_free()
    was, stored = _read_stored(answers.sparkSession, before, ladder)
    people = several(on)
    keep = tuple(
        name for name in was.columns if name not in (*stored.columns, DESIGN)
    )
    options = {} if codes is None else {"codes": codes}
    raising = Raising(
        ladder, _answers(ladder, column), keep, options, not keep_order, fast, stored
    )
    joined = _join_answers(was, answers, raising, people)
    _check_frame(joined, raising)
    return _publish(joined, raising, after, once=people)


def tally(
    design: AnyDesign,
    frame: DataFrame,
    columns: Names | None = None,
    *,
    by: Names = (),
    reached: str | None = None,
) -> Any:
    """Count a frame of responses on the cluster, in one grouped aggregate; what comes back are counts.

    Args:
        design: what the responses were drawn with, of any type.
        frame: the responses, as `respond_all` and `raise_all` store them, or as labels. Rows of nulls are missing.
        columns: what the columns of responses are called, in the order of `design.columns`; by default as there.
        by: columns by whose values responses are counted apart.
        reached: of a ladder: the column that says how many stages were released to each respondent: 0 for none, 2 up to
            `stage_2`, null for all.

    Returns:
        The tally that `deniable.tally` makes of these responses, exactly; with `by` a `GroupedTally`, each group
        under the value of its column or a tuple of values.

    Raises:
        Incompatible: rows whose column `design` names another design, or none; where there is such a column.
        InvalidRequest: a column that is not there, or of a type that holds no responses of this design.
        InvalidResponse: rows that hold something which the design cannot send.
        MissingExtra: pyspark is not installed.
    """
    _check_pyspark()
    # A name that no other frame has, for as long as it is asked.
    name = f"deniable_{uuid4().hex}"
    frame.createTempView(name)
    try:
        view = _View(frame, (name,))
        return count_on(view, design, columns, by=by, reached=reached)
    finally:
        frame.sparkSession.catalog.dropTempView(name)


@dataclass(frozen=True)
class _View:
    """A frame under a name that its session knows, as `engines.sql` asks it."""

    frame: DataFrame
    table: tuple[str, ...]
    dialect: str = "spark"

    def kinds(self) -> Mapping[str, str]:
        from pyspark.sql import types

        kinds = {
            types.NumericType: "numbers",
            types.StringType: "text",
            types.BinaryType: "bytes",
        }
        return {
            column.name: next(
                (
                    name
                    for kind, name in kinds.items()
                    if isinstance(column.dataType, kind)
                ),
                str(column.dataType.typeName()),
            )
            for column in self.frame.schema
        }

    def rows(self, query: str) -> Iterable[Sequence[Any]]:
        rows: list[Sequence[Any]] = self.frame.sparkSession.sql(query).collect()
        return rows


def _stages(ladder: Ladder, path: str) -> list[str]:
    """Return where each stage is stored."""
    if len(ladder) < 2:
        raise InvalidRequest(
            "this ladder has one stage; expected at least two, of which the last one is drawn.",
            "Draw the first stage with respond_all(), and add one with dn.extend(ladder, design).",
        )
    return [
        path,
        *(f"{path.rstrip('/')}.stage-{number}" for number in range(1, len(ladder))),
    ]


def _read_stored(
    session: SparkSession, folder: Output, ladder: Ladder
) -> tuple[DataFrame, AnyDesign]:
    """Read the stored responses of the stages before the last, and their description."""
    from pyspark.sql import functions

    if not folder.exists():
        raise InvalidRequest(
            "the stage before this one is not stored there; expected a folder that respond_all() or raise_all() wrote.",
            "Each stage is raised from the one before: hand over where the first one is.",
        )
    folder.check()
    frame = session.read.parquet(str(folder))
    before = Ladder(ladder.designs[:-1], ladder.steps[:-1])
    is_ladder = before.columns[0] in frame.columns
    stored: AnyDesign = before if is_ladder else before.designs[0]
    hashes = None
    if {*stored.columns, DESIGN} <= set(frame.columns):
        hashes = frame.agg(functions.min(DESIGN), functions.max(DESIGN)).first()
    if hashes is None or not set(hashes) <= {stored.hash, None}:
        raise Incompatible(
            f"the stored responses are not of {stored!r}; expected those of the stages before the last.",
            "Hand over the ladder with which they were drawn, and one stage more: dn.extend(ladder, design).",
        )
    return frame, stored


def _join_answers(
    was: DataFrame, answers: DataFrame, raising: Raising, people: Sequence[str]
) -> DataFrame:
    for name in people:
        if name not in raising.keep or answers.columns.count(name) != 1:
            raise InvalidRequest(
                f"the column {name!r} is not one that both sides have; expected columns that were kept.",
                "Keep what tells people apart with the first stage: respond_all(…, keep=['id']).",
            )
    for name in raising.answers:
        if name in was.columns or answers.columns.count(name) != 1:
            raise InvalidRequest(
                f"there is not one column of answers called {name!r}, or one of what is stored is called so too; "
                "expected a name of its own.",
                "Rename it: answers.withColumnRenamed(…).",
            )
    selected = answers.select(*map(_column, (*people, *raising.answers)))
    return was.join(selected, list(people))


def _answers(design: AnyDesign, column: str | None) -> tuple[str, ...]:
    """Return which columns hold the answers."""
    attributes = attributes_of(design)
    if bool(attributes) == (column is not None):
        raise InvalidRequest(
            "this design has several attributes, and a column is given; expected a column of each attribute's name."
            if attributes
            else "there is no column of answers; expected its name."
        )
    return attributes or (str(column),)


def _check_pyspark() -> None:
    try:
        import pyspark  # noqa: F401 - only whether it is there
    except ImportError:
        raise MissingExtra(
            "a frame of Spark needs the package 'pyspark', which is not installed.",
            "Install it: pip install 'deniable[spark]'.",
        ) from None


def _check_frame(frame: DataFrame, task: Task) -> None:
    check_keep(task.keep, [AskedColumns(task.design, task.answers)])
    for name in task.read:
        if frame.columns.count(name) != 1:
            raise InvalidRequest(
                f"the frame has {frame.columns.count(name) or 'no'} columns called {name!r}; expected one."
            )
    if frame.isStreaming:
        raise InvalidRequest(
            "the frame is a stream, which does not end; expected rows that are there."
        )
    plan: Any = frame
    if (
        hasattr(plan, "_jdf")
        and not plan._jdf.queryExecution().analyzed().deterministic()
    ):
        raise InvalidRequest(
            "the frame gives other rows each time it is read, so that after a failure one answer might be responded to "
            "in two places; expected rows that stay.",
            "Write it first, and read what was written.",
        )


def _publish(
    frame: DataFrame, task: Task, folder: Output, once: Sequence[str] = ()
) -> DataFrame:
    """Draw, write and publish; return a frame that reads the published responses."""
    session, options = frame.sparkSession, folder.options()
    drawn = _drawing_frame(frame, task)
    with folder.publishing() as path, _one_job(session):
        drawn.write.mode("errorifexists").options(**options).parquet(path)
        if once:
            _check_once(session.read.schema(drawn.schema).parquet(path), once)
    return session.read.schema(drawn.schema).parquet(str(folder))


def _check_once(written: DataFrame, people: Sequence[str]) -> None:
    """Look at what was written, which nobody else can read yet: what was drawn twice is not published."""
    counts = written.groupBy(*map(_column, people)).count()
    if counts.where("count > 1").limit(1).count():
        raise InvalidRequest(
            "somebody occurs twice, among the answers or among the stored responses; expected everybody once.",
            "Leave one row for each: answers.dropDuplicates([…]). Nothing was published.",
        )


def _drawing_frame(frame: DataFrame, task: Task) -> DataFrame:
    """Return the frame that draws; keep it private, since each reading draws anew."""
    from pyspark.sql import functions

    read = frame.select(*map(_column, task.read))
    # The hash is added where rows are written: it is longer than most responses, and need not pass through Python.
    hashes = functions.lit(task.design.hash).alias(DESIGN)
    return read.mapInArrow(task, _schema(frame, task)).select("*", hashes)


def _schema(frame: DataFrame, task: Task) -> StructType:
    from pyspark.sql.pandas.types import from_arrow_schema
    from pyspark.sql.types import StructType

    fields = [frame.schema[name] for name in task.keep]
    return StructType([*from_arrow_schema(task.columns()), *fields])


def _column(name: str) -> Column:
    from pyspark.sql import functions

    return functions.col("`" + name.replace("`", "``") + "`")


@contextmanager
def _one_job(session: SparkSession) -> Iterator[None]:
    """Run a job; if it fails, end it and tell what a worker has said."""
    from pyspark.errors import PythonException

    context, tag = session.sparkContext, f"deniable-{uuid4()}"
    context.addJobTag(tag)
    try:
        yield
    except BaseException as error:
        context.cancelJobsWithTag(tag)
        if isinstance(error, PythonException) and (ours := _read_error(str(error))):
            raise ours from None
        raise
    finally:
        context.removeJobTag(tag)


_ERROR = re.compile(
    r"^deniable\.errors\.(?P<kind>\w+): (?P<problem>.*)\n?(?P<hint>.*)", re.MULTILINE
)


def _read_error(trace: str) -> DeniableError | None:
    """Return the error of ours that a worker has raised, of which only the text arrives; None where it is another."""
    match = _ERROR.search(trace)
    if match is None or not hasattr(errors, match["kind"]):
        return None
    error: DeniableError = getattr(errors, match["kind"])(
        match["problem"], match["hint"].strip()
    )
    return error
