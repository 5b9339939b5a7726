"""Recipes: the rewriting that a table row names because data cannot say it.

A recipe is a function of one call site. It looks through the context, and returns what the call becomes or why it is
left. Each small file of this package holds the recipes of one topic and registers them by the name that rows use.
"""

from __future__ import annotations

import importlib
import pkgutil

from torch2ms.translator.rules.call_site import RECIPES, CallSite, Leave, Outcome, Replace, recipe

__all__ = ["RECIPES", "CallSite", "Leave", "Outcome", "Replace", "recipe"]

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
