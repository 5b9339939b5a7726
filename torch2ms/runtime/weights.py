"""Carry weights between a PyTorch network and its translation, by rule and never by shape.

Which torch key belongs to which parameter follows from the *type* of the cell that holds the parameter. The rules come
from torch2ms's mapping tables: ``{"mindspore.nn.BatchNorm2d": {"state": {"weight": "gamma", ...}, "reshape": {}}}``
with the torch key and the parameter's name relative to the cell; ``"state": "same"`` where they are equal, ``""`` for a
torch key without counterpart. A cell that is no layer of MindSpore's keeps its own names. Whatever is left over on
either side is a problem with a name, and nothing is written.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from pathlib import Path
from typing import (
    Any,
    Callable,
    Container,
    Dict,
    Iterable,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    TextIO,
    Tuple,
)

import numpy as np
from numpy.typing import NDArray

from . import whole_checkpoints
from .file_bytes import Progress
from .key_listing import listing
from .reserved import source_name
from .tensor_values import Value, Values, is_equal
from .weight_files import (
    WeightsError,
    dtype_of_tensor,
    load_mindspore,
    read_mindspore,
    read_torch,
    unnest,
    value_of_tensor,
    write_mindspore,
    write_torch,
)

__all__ = [
    "Entry",
    "KeyMap",
    "Value",
    "WeightsError",
    "as_given",
    "convert",
    "from_torch",
    "key_map",
    "main",
    "match",
    "place",
    "restore",
    "to_torch",
]

Rules = Mapping[str, Mapping[str, Any]]

# Reshape rules: how the array changes on the way to MindSpore, and back.
RESHAPES: Dict[str, Tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    # MindSpore's one-dimensional convolutions are two-dimensional ones of height 1: (O, I, k) -> (O, I, 1, k)
    "conv1d": (lambda array: np.expand_dims(array, 2), lambda array: np.squeeze(array, 2)),
}


class Entry(NamedTuple):
    """One torch key and the parameter (or saved buffer) it belongs to; paths from the network's root."""

    torch: str
    mindspore: str
    tensor: Any  # the Parameter or Tensor in the network
    reshape: str = ""
    optional: bool = False  # the PyTorch layer may not have it (affine=False, track_running_stats=False)
    layer: str = ""  # whose rule says so; "": the names are the program's own


class KeyMap(NamedTuple):
    """All entries of a network, the torch keys that have no counterpart by rule, and what no rule covers."""

    entries: List[Entry]
    dropped: List[str]
    problems: List[str]


def key_map(network: Any, rules: Rules) -> KeyMap:
    """Return the key map of ``network`` (a built ``nn.Cell``) under ``rules``."""
    result = KeyMap([], [], [])
    _visit(network, "", "", rules, set(), result, ())
    return result


def as_given(keys: KeyMap, torch_keys: Iterable[str]) -> KeyMap:
    """Return the map with the names that a file has for parts of a network that stand in a ``DataParallel`` there."""
    given = set(torch_keys)
    known = {entry.torch for entry in keys.entries} | set(keys.dropped)
    names: Dict[str, str] = {}
    for key in given - known:
        plain = ".".join(part for part in key.split(".") if part != "module")
        if plain in known and plain not in given:
            names[plain] = key
    if not names:
        return keys
    entries = [entry._replace(torch=names.get(entry.torch, entry.torch)) for entry in keys.entries]
    return KeyMap(entries, [names.get(key, key) for key in keys.dropped], keys.problems)


def _visit(
    cell: Any, path: str, torch_path: str, rules: Rules, claimed: Set[str], result: KeyMap, above: Tuple[int, ...]
) -> None:
    """Add what ``cell`` and its children hold; ``claimed`` are names below the cell that a parent's rule has placed."""
    if id(cell) in above:
        raise WeightsError(f"{path or 'the network'} contains itself")
    own_class, layer, rule = _rule_of(cell, rules)
    claimed = set(claimed)
    state = rule["state"] if rule else "same"
    reshape: Mapping[str, str] = {
        **(rule.get("reshape", {}) if rule else {}),
        **cell.__dict__.get("_torch2ms_reshape", {}),
    }
    if not isinstance(state, str):
        claimed |= _apply(cell, path, torch_path, state, reshape, result, claimed, layer)
    for name, tensor in _direct(cell):
        if name in claimed:
            continue
        if own_class and (rule is None or state != "same"):
            result.problems.append(f"{path}{name}: no rule for this parameter of {own_class}")
        else:
            names = torch_path + source_name(name), path + name
            result.entries.append(Entry(*names, tensor, reshape.get(name, ""), layer=layer))
    for name, child in cell._cells.items():  # name_cells() would leave out a cell that is met a second time
        if child is not None:
            below = {key[len(name) + 1 :] for key in claimed if key.startswith(name + ".")}
            _visit(
                child, f"{path}{name}.", f"{torch_path}{source_name(name)}.", rules, below, result, (*above, id(cell))
            )


def _apply(
    cell: Any,
    path: str,
    torch_path: str,
    state: Mapping[str, str],
    reshape: Mapping[str, str],
    result: KeyMap,
    claimed: Set[str],
    layer: str,
) -> Set[str]:
    """Add the entries that a rule names, and return the names it has placed."""
    placed = set()
    for torch_name, name in state.items():
        if not name:
            continue
        holder, tensor = _look_up(cell, name)
        if tensor is None or name in claimed:
            continue
        # MindSpore's BatchNorm always has gamma, beta and statistics, used or not
        is_statistic = name.endswith(("moving_mean", "moving_variance"))
        optional = getattr(holder, "use_batch_statistics", None) is True if is_statistic else not _is_learnt(tensor)
        entry = Entry(torch_path + torch_name, path + name, tensor, reshape.get(torch_name, ""), optional, layer)
        result.entries.append(entry)
        placed.add(name)
    if placed:  # a cell whose parameters its parent has placed has no keys of its own
        result.dropped.extend(torch_path + torch_name for torch_name, name in state.items() if not name)
    return placed


def _rule_of(cell: Any, rules: Rules) -> Tuple[str, str, Optional[Mapping[str, Any]]]:
    """Return the name of the cell's class where it is MindSpore's own, and the rule of it or a base with that name."""
    own_class = ""
    for number, cls in enumerate(type(cell).__mro__):
        names = list(_canonical(cls))
        if number == 0 and cls.__module__.startswith("mindspore.") and cls.__name__ != "Cell":
            own_class = names[0] if names else f"{cls.__module__}.{cls.__name__}"
        for name in names:
            if name in rules:
                return own_class, name, rules[name]
    return own_class, "", None


def _canonical(cls: type) -> Iterable[str]:
    """Yield the names under which the tables may know a class."""
    module = cls.__module__
    if module.startswith("mindspore."):
        for public in ("mindspore.nn", "mindspore.mint.nn"):
            found = sys.modules.get(public)
            for name in {cls.__name__, cls.__name__.replace("Ext", "")}:
                if found is not None and getattr(found, name, None) is cls:
                    yield f"{public}.{name}"
    for package in ("torch2ms_runtime.", "torch2ms.runtime."):
        if module.startswith(package):
            rest = module[len(package) :]
            yield f"torch2ms.runtime.{rest}.{cls.__name__}"
            if "." in rest:  # a class of runtime/layers/x.py is known as layers.X
                yield f"torch2ms.runtime.{rest.split('.')[0]}.{cls.__name__}"


def _direct(cell: Any) -> Iterable[Tuple[str, Any]]:
    """Yield the parameters and the saved buffers that the cell itself holds."""
    unsaved = {*getattr(cell, "_non_persistent_buffers_set", ()), *cell.__dict__.get("_torch2ms_unsaved", ())}
    for name, parameter in cell.parameters_and_names(expand=False):
        if name not in unsaved:
            yield name, parameter
    for name, buffer in (getattr(cell, "_buffers", None) or {}).items():
        if buffer is not None and name not in unsaved:
            yield name, buffer


def _look_up(cell: Any, name: str) -> Tuple[Any, Any]:
    *parents, last = name.split(".")
    for parent in parents:
        cell = cell._cells.get(parent)
        if cell is None:
            return None, None
    return cell, dict(_direct(cell)).get(last)


def place(entry: Entry, array: NDArray[Any]) -> NDArray[Any]:
    """Return a torch array (a weight, a gradient, a moment) in the shape its MindSpore parameter has."""
    return np.asarray(RESHAPES[entry.reshape][0](array)) if entry.reshape else array


def restore(entry: Entry, array: NDArray[Any]) -> NDArray[Any]:
    """Return a MindSpore array in the shape its torch parameter has."""
    return np.asarray(RESHAPES[entry.reshape][1](array)) if entry.reshape else array


def _is_learnt(tensor: Any) -> bool:
    return bool(getattr(tensor, "requires_grad", False))


def _filled(keys: KeyMap, given: Container[str]) -> Dict[int, str]:
    """Return the torch key of every buffer that has one, by its identity.

    MindSpore registers a buffer with whichever cell it is assigned to as well: ``self.mask = self.inner.mask``.
    """
    found = (entry for entry in keys.entries if entry.torch in given and not _is_learnt(entry.tensor))
    return {id(entry.tensor): entry.torch for entry in found}


def match(keys: KeyMap, torch_keys: Iterable[str]) -> List[str]:
    """Return what does not pair up between a network and a torch state dictionary, one line each; [] when all does."""
    given = set(torch_keys)
    keys = as_given(keys, given)
    known = {entry.torch for entry in keys.entries} | set(keys.dropped)
    problems = list(keys.problems)
    filled = _filled(keys, given)
    problems += [
        f"{entry.mindspore}: the PyTorch file has no {entry.torch}"
        for entry in keys.entries
        if entry.torch not in given and not entry.optional and id(entry.tensor) not in filled
    ]
    problems += [f"{key}: the MindSpore network has no parameter for it" for key in sorted(given - known)]
    return problems


def from_torch(keys: KeyMap, values: Values) -> Tuple[Values, List[str]]:
    """Return the parameters that a torch state dictionary gives, by path, in the network's types; and notes.

    Raises WeightsError that names every key without counterpart and every shape that differs.
    """
    keys = as_given(keys, values)
    problems = match(keys, values)
    notes: List[str] = []
    result: Values = {}
    filled = _filled(keys, values)
    for entry in keys.entries:
        name = entry.torch if entry.torch in values else filled.get(id(entry.tensor), "")
        if not name:
            if entry.optional:
                notes.append(f"{entry.mindspore} keeps its initial value: the PyTorch layer has none")
                result[entry.mindspore] = value_of_tensor(entry.tensor)
            continue
        value = values[name]
        placed = value.reshaped(RESHAPES[entry.reshape][0]) if entry.reshape else value
        if placed.shape != tuple(entry.tensor.shape):
            problems.append(
                f"{entry.torch}: shape {value.shape} does not fit {entry.mindspore} {tuple(entry.tensor.shape)}"
            )
            continue
        result[entry.mindspore] = _cast(placed, entry, notes)
    _check_tied(keys, values, problems)
    _raise(problems)
    return result, _summed_up(notes)


def _cast(value: Value, entry: Entry, notes: List[str]) -> Value:
    """Return the value in the type of the network's parameter, with a note when the type changes."""
    wanted = dtype_of_tensor(entry.tensor)
    if wanted == value.dtype:
        return value
    cast = value.cast(wanted)
    is_same = ({value.dtype, wanted} != {"float16", "bfloat16"} and _fits(value.dtype, wanted)) or is_equal(value, cast)
    notes.append(f"{value.dtype} became {wanted}" + ("" if is_same else ", rounded"))
    return cast


def _fits(dtype: str, wanted: str) -> bool:
    """Whether every number of one type is one of another."""
    if wanted == "bfloat16":
        return False
    return np.can_cast("float32" if dtype == "bfloat16" else dtype, wanted, "safe")


def _check_tied(keys: KeyMap, values: Values, problems: List[str]) -> None:
    """Where one parameter answers to several torch keys, their values must be equal."""
    first: Dict[int, str] = {}
    for entry in keys.entries:
        if entry.torch not in values:
            continue
        other = first.setdefault(id(entry.tensor), entry.torch)
        if other != entry.torch and not is_equal(values[other], values[entry.torch]):
            problems.append(f"{entry.torch} and {other} differ, but are one parameter in the MindSpore network")


def to_torch(keys: KeyMap, values: Values) -> Tuple[Values, List[str]]:
    """Return the torch state dictionary that MindSpore parameters give; and notes.

    What torch keeps beside (``num_batches_tracked``) is written as 0 where the values do not have it.
    Raises WeightsError as :func:`from_torch`.
    """
    problems = list(keys.problems)
    result: Values = {}
    used: Set[str] = set()
    for entry in keys.entries:
        # a translated program saves under PyTorch's names
        names = [entry.mindspore, getattr(entry.tensor, "name", ""), entry.torch]
        name = next((name for name in names if name in values), "")
        if not name:
            problems.append(f"{entry.mindspore}: the MindSpore file has no such parameter")
            continue
        used.add(name)
        value = values[name]
        if value.shape != tuple(entry.tensor.shape):
            problems.append(f"{name}: shape {value.shape}, the network has {tuple(entry.tensor.shape)}")
            continue
        if not entry.optional:
            result[entry.torch] = value.reshaped(RESHAPES[entry.reshape][1]) if entry.reshape else value
    problems += [f"{name}: the network has no such parameter" for name in sorted({*values} - {*used, *keys.dropped})]
    _raise(problems)
    holders = {key.rpartition(".")[0] for key in result}
    for key in keys.dropped:
        # torch counts the batches of layers that keep statistics
        if key.endswith("num_batches_tracked") and key.rpartition(".")[0] in holders and _has_statistics(key, result):
            result[key] = values.get(key, Value(np.array(0, dtype=np.int64), "int64"))
    skipped = [entry.mindspore for entry in keys.entries if entry.optional]
    return result, [f"{len(skipped)} parameters that the PyTorch layers do not have were left out"] if skipped else []


def _has_statistics(key: str, values: Values) -> bool:
    return key.replace("num_batches_tracked", "running_mean") in values


def _raise(problems: List[str]) -> None:
    if problems:
        shown = problems[:20] + ([f"... and {len(problems) - 20} more"] if len(problems) > 20 else [])
        raise WeightsError("T2M801: the weights do not pair up with the network:\n  " + "\n  ".join(shown))


def _summed_up(notes: List[str]) -> List[str]:
    counts: Dict[str, int] = {}
    for note in notes:
        counts[note] = counts.get(note, 0) + 1
    return [note if count == 1 else f"{note} ({count} times)" for note, count in counts.items()]


def convert(
    source: Path,
    destination: Path,
    network: Any,
    rules: Rules,
    reverse: bool = False,
    whole: bool = False,
    terminal: Optional[TextIO] = None,
) -> Dict[str, Any]:
    """Convert a file of weights for ``network``; PyTorch to MindSpore, or back with ``reverse``.

    With ``reverse`` and ``whole``, what a translated program saved beside the weights (the state of its optimizer, the
    epoch) is written with them, as PyTorch resumes from it. Neither file is held in memory; the SHA-256 of what is
    written lies beside it, in ``NAME.sha256``. ``terminal``: where a bar shows how much is written. Returns
    ``{"parameters": number written, "dropped": torch keys without counterpart, "notes": [...]}``; raises WeightsError
    and writes nothing when anything does not pair up.
    """
    if whole and (not reverse or destination.suffix == ".safetensors"):
        raise WeightsError(
            "a whole checkpoint is converted by --reverse, to .pth; translated programs read PyTorch's as they are"
        )
    keys = key_map(network, rules)
    content: Dict[str, Any]
    if reverse:
        loaded = load_mindspore(source)
        values, notes, places = unnest(source, loaded)
        written, more = to_torch(keys, values)
        content = _whole(keys, loaded, places, written) if whole else written
        notes = [] if whole else notes
        dropped: List[str] = []
    else:
        values, notes = read_torch(source)
        keys = as_given(keys, values)
        written, more = from_torch(keys, values)
        dropped = [key for key in keys.dropped if key in values]
        content = written
    progress = Progress(destination.name, sum(value.nbytes for value in written.values()), terminal)
    (write_torch if reverse else write_mindspore)(content, destination, progress)
    progress.end()
    return {"parameters": len(written), "dropped": dropped, "notes": notes + more}


def _whole(keys: KeyMap, loaded: Any, places: Sequence[Any], written: Values) -> Dict[str, Any]:
    """Return a training checkpoint as PyTorch has it, with the weights ``written``."""
    shapes = [(entry.reshape, tuple(entry.tensor.shape)) for entry in keys.entries]
    reshapes = {shape: RESHAPES[reshape][1] for reshape, shape in shapes if reshape}
    plain = {shape for reshape, shape in shapes if not reshape}
    try:
        content = whole_checkpoints.back_to_torch(loaded, reshapes, plain)
    except ValueError as error:
        raise WeightsError(f"the state of the optimizer cannot be converted: {error}") from error
    return whole_checkpoints.with_weights(content, places, written)  # type: ignore[no-any-return]


def build(entry: str, kwargs: Mapping[str, Any]) -> Any:
    """Import ``module:callable`` and call it; returns the network."""
    module, _, name = entry.partition(":")
    if not module or not name:
        raise WeightsError(f"--entry is MODULE:CALLABLE, not {entry!r}")
    try:
        target: Any = importlib.import_module(module)
    except ImportError as error:
        raise WeightsError(f"{module} cannot be imported: {error}") from error
    for part in name.split("."):
        if not hasattr(target, part):
            raise WeightsError(f"{module} has no {name}")
        target = getattr(target, part)
    return target(**kwargs)


def main(
    rules: Rules,
    entry: str = "",
    kwargs: Optional[Mapping[str, Any]] = None,
    argv: Optional[Sequence[str]] = None,
) -> int:
    """Be the command line of ``convert_weights.py``: return 0, or 1 with the reason on stderr."""
    parser = argparse.ArgumentParser(description="Convert weights between PyTorch and MindSpore.")
    parser.add_argument(
        "source",
        nargs="?",
        type=Path,
        help=".pth, .pt, .safetensors or .index.json (with --reverse: .ckpt or .safetensors)",
    )
    targets = ".ckpt or .safetensors (with --reverse: .pth or .safetensors)"
    parser.add_argument("destination", nargs="?", type=Path, help=targets)
    parser.add_argument("--list", action="store_true", help="only print which key is which parameter; check a source")
    parser.add_argument("--reverse", action="store_true", help="from MindSpore to PyTorch")
    parser.add_argument("--whole", action="store_true", help="with --reverse: the optimizer's state and the rest too")
    parser.add_argument("--entry", default=entry, required=not entry, help="MODULE:CALLABLE that builds the network")
    parser.add_argument("--kwargs", default=json.dumps(dict(kwargs or {})), help="its keyword arguments, as JSON")
    args = parser.parse_args(argv)
    try:
        given = json.loads(args.kwargs)
    except (ValueError, RecursionError) as error:
        parser.error(f"--kwargs is no JSON: {error}")
    if not args.list and args.destination is None:
        parser.error("a file to read and a file to write are needed, or --list")
    try:
        network = build(args.entry, given)
        if args.list:
            _list(key_map(network, rules), args.source, args.reverse)
            return 0
        result = convert(args.source, args.destination, network, rules, args.reverse, args.whole, sys.stderr)
    except WeightsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"{args.destination}: {result['parameters']} arrays, its SHA-256 in {args.destination.name}.sha256")
    if result["dropped"]:
        print(f"  without counterpart by rule: {len(result['dropped'])}, the first is {result['dropped'][0]}")
    for note in result["notes"]:
        print(f"  {note}")
    return 0


def _list(keys: KeyMap, source: Optional[Path], reverse: bool) -> None:
    """Print the map of a network, and whether the arrays of ``source`` have their places. Raises WeightsError."""
    print("\n".join(listing(keys.entries, keys.dropped)))
    _raise(keys.problems)
    if source is not None:
        values = (read_mindspore if reverse else read_torch)(source)[0]
        placed, notes = (to_torch if reverse else from_torch)(keys, values)
        print("\n".join([f"{source}: {len(placed)} arrays, each has its place", *(f"  {note}" for note in notes)]))
