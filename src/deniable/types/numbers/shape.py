"""A smooth picture of the distribution of numbers: spikes are flattened, and no interval of it holds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from deniable.designs import Scale
from deniable.errors import InvalidRequest, quoted
from deniable.estimates.covariances import Vector, vector

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["SmoothShape", "level_borders"]


@dataclass(frozen=True, eq=False)
class SmoothShape:
    """A smoothed distribution of numbers, without errors: no interval of it holds.

    Attributes:
        scale: the range of the numbers, and its levels.
        shares: the smoothed share of each level; they sum to 1.
    """

    scale: Scale
    shares: Vector

    @cached_property
    def levels(self) -> Vector:
        """The levels, as floats."""
        return vector([float(level) for level in self.scale.values])

    @property
    def mean(self) -> float:
        """The mean of the smoothed shares; biased, other than that of the estimate."""
        return float(self.levels @ self.shares)

    def quantile(self, share: float) -> float:
        """Return a quantile of the picture, such as 0.5 for its median.

        Raises:
            InvalidRequest: a share outside [0, 1].
        """
        if not 0 <= share <= 1:
            raise InvalidRequest(
                f"share is {quoted(share)}; expected a number from 0 to 1."
            )
        below = np.concatenate([[0.0], np.cumsum(self.shares)])
        return float(np.interp(share, below, level_borders(self.levels)))

    def plot(self, *, title: str = "", dark: bool = False) -> Figure:
        """Draw the density as one line; its title says that no interval holds.

        Args:
            title: of the picture.
            dark: light on dark.
        """
        from deniable.rendering.pictures import ACCENT, start_picture

        figure, axes = start_picture(
            3.2, title or "smoothed: spikes are flattened, no interval of it holds"
        )
        widths = np.diff(level_borders(self.levels))
        axes.plot(self.levels, self.shares / widths, color=ACCENT)
        axes.set(xlabel="value", ylabel="density", ylim=(0, None))
        if dark:
            figure.darken()
        return figure

    def __str__(self) -> str:
        low, middle, high = map(self.quantile, (0.25, 0.5, 0.75))
        return (
            f"smoothed: mean {self.mean:.4g}, median {middle:.4g}, quartiles {low:.4g} and {high:.4g}. Spikes are "
            "flattened, and no interval of it holds."
        )


def level_borders(levels: Vector) -> Vector:
    """Return the ends of the range, and the middles between levels.

    Why: whoever is rounded to the level l or below lies, on average, below the middle between l and the next one.
    """
    middles = (levels[1:] + levels[:-1]) / 2
    return np.concatenate([levels[:1], middles, levels[-1:]])
