"""Pictures on pages: where things lie, in percent of the width, so that inline SVG fits every screen."""

from __future__ import annotations

from deniable.collector.charts.axis import Axis, Tick, axis
from deniable.collector.charts.curve import Curve, curve
from deniable.collector.charts.days import Bar, Days, days_chart
from deniable.collector.charts.shares import Line, Shares, shares_chart

__all__ = ["Axis", "Bar", "Curve", "Days", "Line", "Shares", "Tick", "axis", "curve", "days_chart", "shares_chart"]
