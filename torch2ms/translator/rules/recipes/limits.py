"""Values that are held between limits: MindSpore's ``clamp`` keeps the shape of the values, PyTorch's broadcasts."""

from __future__ import annotations

from torch2ms.translator.context import Context
from torch2ms.translator.rules.call_site import CallSite, Outcome, Replace, recipe
from torch2ms.translator.rules.emission import emit_call
from torch2ms.translator.syntax.cst_builders import bare, build
from torch2ms.translator.values.queries.ranks import OTHERS, ranks

__all__: list[str] = []


@recipe("clamp", by_name_alone=True)
def clamp(site: CallSite, ctx: Context) -> Outcome:
    """``torch.clamp(x, lower)``: the runtime's where a limit is seen to have more axes than the values."""
    given = site.argument("input") if site.receiver_tree is None else None
    own = ranks(given.tree if given is not None else site.receiver_tree, ctx) - {OTHERS}
    limits = {name: limit for name in ("min", "max") if (limit := site.argument(name)) is not None}
    several = [ranks(limit.tree, ctx) for limit in limits.values() if ctx.kind(limit.tree).is_tensor]
    value = given.code if given is not None else site.receiver
    if value is None or not own or max((rank for limit in several for rank in limit), default=0) <= min(own):
        return emit_call(site, ctx)
    named = ", ".join(f"{name}={{{name}}}" for name in limits)
    codes = {name: bare(limit.code) for name, limit in limits.items()}
    function = ctx.reference("torch2ms.runtime.functional.clamp")
    return Replace(build(f"{{f}}({{x}}, {named})", f=function, x=bare(value), **codes))
