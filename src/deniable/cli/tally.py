"""`deniable tally`: files of responses → counts."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deniable.cli import collected
from deniable.cli.common import CommandOutput, guarded, progress, say
from deniable.cli.reading import read_any_design
from deniable.errors import InvalidRequest

if TYPE_CHECKING:
    from deniable.designs import AnyDesign
    from deniable.groups.collected import CollectedColumn
    from deniable.groups.separate import SeparateTallies


@guarded
def tally(
    design: Path,
    responses: list[str],
    *,
    column: list[str] | None = None,
    by: list[str] | None = None,
    value: list[str] | None = None,
    missing: list[str] | None = None,
    codes: bool | None = None,
    sheet: str | None = None,
    weights: str | None = None,
    threads: int | None = None,
    output: CommandOutput,
) -> None:
    """Count the responses of one file or of several, which add up. Files of another design are refused.

    A file that was collected elsewhere names no design: with --column you vouch for the one you hand over, and the
    tally says so. Values that are no symbols are counted apart and shown, never guessed; --value says what they mean.

    Responses in a database are counted there: see `deniable tally-query`.

    Args:
        design: a design, as written by `deniable design`; or a mapping file (.toml) for several columns.
        responses (FILE…): responses (Parquet, Arrow, CSV, NDJSON, Excel, SPSS, Stata; a file, a folder or a
            'pattern*'), tallies (.json), or - for stdin.
        column (NAME): which column holds the responses; with a mapping file it may be repeated.
        by (COLUMN): count apart by the values of this column. May be repeated.
        value (VALUE=SYMBOL): in a file that was collected elsewhere: which value means which symbol. May be repeated.
        missing (VALUE): in such a file: a value that means that nothing was sent. May be repeated.
        codes: whole numbers are codes, the indices of the symbols from 0, or labels. By default the file says it;
            those of a file that was collected elsewhere are labels.
        weights (NAME): column with the survey weights.
        threads (1…): how many threads count; by default one for each core.
        out: write the tally to this file.
    """
    words = collected.ColumnOptions(
        design, column or (), value or (), missing or (), codes is True, sheet
    )
    single = None if words.mapped else read_any_design(design)
    if single is not None and column and len(column) > 1:
        raise InvalidRequest(
            f"there are {len(column)} of --column and one design; expected one.",
            "For several columns write a mapping file, which names the design of each, and hand it over as DESIGN.",
        )
    if len({Path(path).resolve() for path in responses}) < len(responses):
        say("a file is named more than once; its responses count as often.")
    if weights is not None and single is None:
        raise InvalidRequest(
            "--weights goes with one design; expected no mapping file."
        )
    counting = _Counting(words, single, by or [], codes, threads, weights)
    total = collected.added([counting.count(path) for path in responses])
    collected.tell_unknown(counting.unknown, counting.designs)
    output.deliver(total.to_json(indent=2), lambda: collected.print_tallies(total))
    collected.tell_declared(total)


class _Counting:
    """Counts one file after another, and keeps which values were no symbols."""

    def __init__(
        self,
        words: collected.ColumnOptions,
        known: AnyDesign | None,
        by: list[str],
        codes: bool | None,
        threads: int | None,
        weights: str | None,
    ) -> None:
        self.unknown: dict[str, Counter[str]] = {}
        self.designs: list[Any] = (
            collected.read_designs(words.design) if known is None else [known]
        )
        self._words = words
        self._known = known
        self._by = by
        self._codes = codes
        self._threads = threads or os.cpu_count() or 1
        self._weights = weights

    def count(self, path: str) -> Any:
        if path.lower().endswith(".json"):
            return collected.read_tally(Path(path).read_bytes(), self.designs)
        source: Any = path
        if path == "-":
            source = collected.read_stream(
                whole=self._known is None or bool(self._words.columns)
            )
        if self._known is None:
            return self._mapped(source, path)
        words = self._words
        question = (
            ""
            if not words.columns
            else collected.named_question(
                source, words.columns[0], self._known, words.sheet
            )
        )
        if question is not None:
            return self._ours(self._known, source, path, question)
        tally = collected.plainest(
            self._elsewhere(words.questions(self._known), source, path)
        )
        return tally if self._weights is None else self._weighed(tally, source)

    def _mapped(self, given: Any, path: str) -> Any:
        """Count columns with a design each; where a file names that of a column, under it alone."""
        from deniable.groups.separate import SeparateTallies, TallyKey

        elsewhere, ours = {}, {}
        for column, column_options in self._words.questions(None).items():
            design = column_options.designs.get(None)
            sheet = self._words.sheet
            question = (
                None
                if design is None
                else collected.named_question(given, column, design, sheet)
            )
            if design is None or question is None:
                elsewhere[column] = column_options
                continue
            ours[TallyKey(column)] = self._ours(design, given, path, question)
        tallies = SeparateTallies(ours)
        return collected.plainest(
            tallies + self._elsewhere(elsewhere, given, path) if elsewhere else tallies
        )

    def _ours(self, design: AnyDesign, given: Any, path: str, question: str) -> Any:
        """Count a file that names the design of its responses."""
        from deniable.engines import Local
        from deniable.engines.files import tally_file

        words = self._words
        if words.values or words.missing or words.sheet:
            why = (
                "this one names its design; expected none of them"
                if words.columns
                else "expected --column with them"
            )
            raise InvalidRequest(
                f"--value, --missing and --sheet are for files that were collected elsewhere; {why}."
            )
        options: dict[str, Any] = {
            "question": question,
            "codes": self._codes,
            "weights": self._weights,
        }
        with progress(f"counting {Path(path).name}") as report:
            return tally_file(
                design,
                given,
                by=self._by,
                engine=Local(threads=self._threads),
                progress=report,
                **options,
            )

    def _elsewhere(
        self, questions: Mapping[str, CollectedColumn], given: Any, path: str
    ) -> SeparateTallies:
        """Count a file that does not."""
        from deniable.groups.collected import count_columns

        with progress(f"counting {Path(path).name}") as report:
            count = count_columns(
                questions, given, by=self._by, sheet=self._words.sheet, progress=report
            )
        for column, counted in count.unknown.items():
            self.unknown.setdefault(column, Counter()).update(counted)
        return count.tallies

    def _weighed(self, tally: Any, given: Any) -> Any:
        """Count the same rows with the weights that stand beside them."""
        from deniable.groups.collected import weigh

        ((column, column_options),) = self._words.questions(self._known).items()
        return weigh(
            tally,
            column_options,
            given,
            column,
            str(self._weights),
            sheet=self._words.sheet,
        )
