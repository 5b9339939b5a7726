"""Write the calls of training steps that keep their places.

What they need was recorded as it ran (``training.recorded``), or is kept with the weights (``training.kept``).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.syntax.cst_builders import code_of
from torch2ms.translator.training.find.vocabulary import RETAINING
from torch2ms.translator.training.model import Clip, RecordedCall, TrainingUnit

__all__ = ["UNSCALED", "write_recorded"]

RECORDING, GRADIENTS = "torch2ms.runtime.recording", "torch2ms.runtime.gradients"
DISTRIBUTED = "torch2ms.runtime.distributed"


UNSCALED = "gradients are divided by the scale as soon as they are there: those read before unscale_ are not scaled"

_SETTINGS = {**dict.fromkeys(RETAINING, "retain_graph"), "create_graph": "create_graph"}  # torch's: the runtime's


def _is_off(keyword: ast.keyword) -> bool:
    return isinstance(keyword.value, ast.Constant) and not keyword.value.value


def write_recorded(
    calls: Sequence[RecordedCall], code: Callable[[ast.expr], str], weights: Callable[[TrainingUnit], str], ctx: Context
) -> list[Any]:
    """Return what stands in the place of one statement.

    ``code`` gives the translated text of an expression, ``weights`` that of the weights a unit differentiates by.
    """
    lines: list[str] = []
    for call in calls:
        module = GRADIENTS if call.is_kept else RECORDING
        if call.clip is not None:
            lines.append(_clip(call.clip, code, module, ctx))
        elif call.kind == "hand" and call.unit is not None:
            lines.append(f"{_name(GRADIENTS, 'hand_over', ctx)}({weights(call.unit)}, {call.unit.grads_name})")
        elif call.kind == "take":
            lines.append(f"{_name(GRADIENTS, 'take_over', ctx)}({_settings(call.call, code)})")
            ctx.report("T2M401", call.statement, "the gradients are those that were handed over with the loss")
        elif call.unit is not None:
            keep = _name(GRADIENTS, "keep", ctx) if call.engine is None else f"{code(call.engine)}.keep"
            lines.append(f"{keep}({weights(call.unit)}, {call.unit.grads_name})")
        elif call.kind in ("backward", "hand"):
            lines.append(_differentiated(call, code, module, ctx))
        else:
            function = "reset" if call.kind == "zero" else "update"
            name = _name(module, function, ctx) if call.engine is None else f"{code(call.engine)}.{function}"
            name = f"{code(scaler)}.step" if (scaler := _scaler(call)) is not None else name
            given = [f"{'*' if call.is_spread else ''}{code(call.target)}", *_closure(call, code), *_zeros(call, code)]
            lines.append(_bound(call, f"{name}({', '.join(given)})", code))
    return list(cst.parse_module("\n".join(lines) + "\n").body)


def _differentiated(call: RecordedCall, code: Callable[[ast.expr], str], module: str, ctx: Context) -> str:
    """Return the call that has a loss differentiated by what was recorded for it, and say so."""
    given = [code(call.target), *(code(node) for node in call.optimizers)]
    if call.kind == "backward":
        settings = [k for k in call.call.keywords if k.arg in _SETTINGS and not _is_off(k)]
        given += [f"{_SETTINGS[k.arg or '']}={code(k.value)}" for k in settings]
    if call.scaler is not None:
        given.append(f"scaler={code(call.scaler)}")
    if ctx.world.symbols.is_data_parallel:
        given.append(f"average={_name(DISTRIBUTED, 'average_gradients', ctx)}")
    why = call.reason or "no function holds the forward pass"
    ctx.report("T2M405", call.statement, f"this step is recorded as it runs (no graph mode, slower): {why}")
    if call.reads and call.scaler is not None:
        ctx.report("T2M303", call.statement, UNSCALED)
    return f"{_name(module, 'backward' if call.kind == 'backward' else 'hand_over', ctx)}({', '.join(given)})"


def _scaler(call: RecordedCall) -> ast.expr | None:
    """Return the gradient scaler of ``scaler.step(optimizer)``."""
    func = call.call.func
    is_scaled = call.kind == "step" and isinstance(func, ast.Attribute) and func.value is not call.target
    return func.value if is_scaled and isinstance(func, ast.Attribute) else None


def _closure(call: RecordedCall, code: Callable[[ast.expr], str]) -> list[str]:
    """Return the closure that a step is handed on."""
    func = call.call.func
    if call.kind != "step" or not isinstance(func, ast.Attribute) or func.value is not call.target:
        return []
    return [code(value) for value in (*call.call.args, *(k.value for k in call.call.keywords))]


def _zeros(call: RecordedCall, code: Callable[[ast.expr], str]) -> list[str]:
    """Return the argument of a reset whose gradients may become zeros, and not None."""
    if call.kind != "zero" or call.engine is not None:
        return []
    given = [*call.call.args, *(k.value for k in call.call.keywords if k.arg == "set_to_none")]
    return [f"set_to_none={code(value)}" for value in given[:1] if getattr(value, "value", None) is not True]


def _bound(call: RecordedCall, text: str, code: Callable[[ast.expr], str]) -> str:
    """Return a call with what its statement does with the result."""
    statement = call.statement
    if isinstance(statement, ast.Return):
        return f"return {text}"
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return "".join(f"{code(target)} = " for target in targets) + text


def _settings(call: ast.Call, code: Callable[[ast.expr], str]) -> str:
    return ", ".join(f"{keyword.arg}={code(keyword.value)}" for keyword in call.keywords)


def _name(module: str, function: str, ctx: Context) -> str:
    return code_of(ctx.reference(f"{module}.{function}"))


def _clip(clip: Clip, code: Callable[[ast.expr], str], module: str, ctx: Context) -> str:
    target = f"{module}.clip_{clip.kind}"
    ctx.account(clip.call.func, f"torch.nn.utils.clip_grad_{clip.kind}_", "mapped", target, "exact")
    extra = "".join(f", {k.arg}={code(k.value)}" for k in clip.extra if k.arg)
    name = code(clip.result) if clip.result is not None else ctx.training.leaves.inner.get(clip.call)
    result = f"{name} = " if name is not None else ""
    return f"{result}{_name(module, f'clip_{clip.kind}', ctx)}({code(clip.weights)}, {code(clip.limit)}{extra})"
