"""Checkpoints: what torch pickles and the runtime's files cannot hold."""

from __future__ import annotations

import ast
from dataclasses import replace

from torch2ms.translator.context import Context
from torch2ms.translator.emission import emit_call
from torch2ms.translator.recipes.base import CallSite, Outcome, Replace, recipe

__all__: list[str] = []


@recipe("save_checkpoint")
def save_checkpoint(site: CallSite, ctx: Context) -> Outcome:
    """``torch.save``; a network that is saved whole, with its code, is reported: files hold values only."""
    made = emit_call(site, ctx)
    argument = site.argument("obj")
    if not isinstance(made, Replace) or argument is None or site.bound is None:
        return made
    saved = site.tree.args[0] if site.tree.args else next(k.value for k in site.tree.keywords if k.arg == "obj")
    values = saved.values if isinstance(saved, ast.Dict) else [saved]
    whole = next((value for value in values if ctx.kind(value).name == "Module"), None)
    if whole is None:
        return made
    name = ast.unparse(whole)
    message = (
        f"torch.save pickles the whole network {name}; here the call raises: save {name}.state_dict(), "
        "and build the network before load_state_dict"
    )
    return replace(made, codes=(*made.codes, ("T2M203", message)))
