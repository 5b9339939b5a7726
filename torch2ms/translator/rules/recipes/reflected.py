"""Operators that are called by the name of their method: ``x.__rmod__(y)`` is ``y % x``."""

from __future__ import annotations

from torch2ms.translator.context import Context
from torch2ms.translator.rules.call_site import CallSite, Leave, Outcome, Replace, recipe
from torch2ms.translator.syntax.cst_builders import build, parenthesised

__all__: list[str] = []

_OPERATORS = {
    "__radd__": "({y} + {x})",
    "__rsub__": "({y} - {x})",
    "__rmul__": "({y} * {x})",
    "__rmatmul__": "({y} @ {x})",
    "__rdiv__": "({y} / {x})",
    "__rtruediv__": "({y} / {x})",
    "__rpow__": "({y} ** {x})",
    "__rmod__": "({y} % {x})",
    "__rand__": "({y} & {x})",
    "__ror__": "({y} | {x})",
    "__rxor__": "({y} ^ {x})",
}


@recipe("reflected")
def reflected(site: CallSite, ctx: Context) -> Outcome:
    """``x.__rmod__(y)`` -> ``(y % x)``: MindSpore's tensors have some of these methods, for numbers alone."""
    other = site.argument("other")
    if site.receiver is None or other is None:
        return Leave("it is called without a second value")
    operator = _OPERATORS[site.row.name.rpartition(".")[2]]
    return Replace(build(operator, x=parenthesised(site.receiver), y=parenthesised(other.code)))
