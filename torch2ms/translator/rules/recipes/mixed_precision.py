"""apex: what prepares networks and optimizers for half precision gives them back as they are."""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.rules.call_site import CallSite, Leave, Outcome, Replace, recipe

__all__: list[str] = []


@recipe("apex_initialize", takes_stars=True)
def apex_initialize(site: CallSite, ctx: Context) -> Outcome:
    """``amp.initialize(model, optimizer, opt_level="O1")`` becomes ``(model, optimizer)``."""
    models, optimizers = site.argument("models"), site.argument("optimizers")
    stars = [arg.star for arg in site.updated.args if arg.star]
    if "*" in stars or (stars and optimizers is None):
        return Leave("what is passed with * or ** may be the optimizers")
    if models is None:
        return Leave("the networks cannot be told apart from the settings")
    if optimizers is None or (isinstance(optimizers.tree, ast.Constant) and optimizers.tree.value is None):
        return Replace(models.code)
    return Replace(cst.Tuple([cst.Element(models.code), cst.Element(optimizers.code)]))
