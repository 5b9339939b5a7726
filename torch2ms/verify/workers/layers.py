"""Calls of a network's layers, recorded in one pass and repeated one by one; the same code for both frameworks.

A layer is repeated with PyTorch's own inputs, and what it calls gives PyTorch's own results, so that an error is the
layer's own and never an echo of an earlier one. Example: in a repeated call of a residual block its convolutions are
not computed; what enters each of them, and what the block makes of their results, is.
"""

from __future__ import annotations

import inspect
import os
import sys
import zlib
from pathlib import Path
from types import FrameType
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Call",
    "Repeated",
    "Tracer",
    "cotangent",
    "goes_backward",
    "leaves",
    "note_origins",
    "places_of",
    "plain_settings",
    "replaced",
]

_ORIGIN = "_torch2ms_made_at"
_PLAIN = (bool, int, float, str)
Site = Optional[List[Any]]  # [file below the root, line]


class Call:
    """One call of a layer: what it got and gave, by whom it was called (index, or -1), and where."""

    def __init__(self, index: int, path: str, occurrence: int, parent: int, layer: Any, site: Site) -> None:
        self.index, self.path, self.occurrence, self.parent = index, path, occurrence, parent
        self.layer, self.site = layer, site
        self.end = -1  # number of the last call in it
        self.args: Tuple[Any, ...] = ()
        self.kwargs: Dict[str, Any] = {}
        self.output: Any = None
        self.written = False  # it writes into what it gets
        self.error = ""


class Repeated(NamedTuple):
    """What a repeated call did: its result, what entered the layers that it called, and its variables, by place."""

    output: Any
    entering: Dict[str, Any]
    variables: Dict[str, Tuple[int, Any]]  # line that bound it, and value, of "name#time"


class Framework(NamedTuple):
    """What the tracer has to know of a framework."""

    layer: Any  # nn.Module or nn.Cell
    is_tensor: Callable[[Any], bool]
    keep: Callable[[Any], Any]  # a tensor's copy, which later writes do not reach
    version: Callable[[Any], Any]  # what changes when a tensor is written into
    method: str  # forward or construct


class Tracer:
    """Stands in for the call of every layer while it records or repeats; transparent otherwise."""

    def __init__(self, framework: Framework) -> None:
        self.framework = framework
        self.original: Any = None
        self.root = ""
        self.paths: Dict[int, str] = {}
        self.calls: List[Call] = []
        self._stack: List[Call] = []
        self._counts: Dict[Tuple[int, str], int] = {}
        self._mode = ""
        self._target: Any = None
        self._forced: Mapping[Tuple[str, int], Any] = {}
        self._entering: Dict[str, Any] = {}

    def record(self, root: str, paths: Mapping[int, str], run: Callable[[], Any]) -> str:
        """Run a network and keep the calls of the layers in ``paths`` (identity -> path); return its error, if any."""
        self._install()
        self.root, self.paths = os.path.realpath(root) + os.sep, dict(paths)
        self.calls, self._stack, self._counts, self._mode = [], [], {}, "record"
        try:
            run()
        except Exception as error:  # whatever the user's network raises is an answer
            return f"{type(error).__name__}: {error}".strip()
        finally:
            self._mode = ""
        return ""

    def repeat(
        self,
        call: Call,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        forced: Mapping[Tuple[str, int], Any],
        watched: bool = False,
    ) -> Repeated:
        """Call a layer again; those in it that ``forced`` names (path, occurrence) give what stands there.

        The variables of its code are kept where it is ``watched``.
        """
        self._target, self._forced, self._entering, self._counts = call.layer, forced, {}, {}
        self._mode = "repeat"
        variables: Dict[str, Tuple[int, Any]] = {}
        before = sys.gettrace()
        if watched:
            sys.settrace(self._watch(call.layer, variables))
        try:
            return Repeated(call.layer(*args, **kwargs), self._entering, variables)
        finally:
            sys.settrace(before)
            self._mode, self._target = "", None

    def _watch(self, layer: Any, found: Dict[str, Tuple[int, Any]]) -> Any:
        """Return what Python calls at a line: it adds the tensors that variables of the layer's code are bound to."""
        code = getattr(inspect.unwrap(getattr(type(layer), self.framework.method)), "__code__", None)
        seen: Dict[str, Tuple[Any, Any]] = {}
        counts: Dict[str, int] = {}
        last = [0]

        def look(frame: Any, event: str, _: Any) -> Any:
            for name, value in list(frame.f_locals.items()) if event != "exception" else ():
                if not self.framework.is_tensor(value):
                    continue
                version = self.framework.version(value)
                held, other = seen.get(name, (None, None))
                if held is value and version == other:
                    continue
                seen[name] = value, version
                if event != "call":  # its arguments are there already
                    counts[name] = counts.get(name, 0) + 1
                    found[f"{name}#{counts[name]}"] = last[0], self.framework.keep(value)
            last[0] = frame.f_lineno
            return look

        return lambda frame, event, argument: look(frame, event, argument) if frame.f_code is code else None

    def _install(self) -> None:
        if self.original is not None:
            return
        original = self.original = self.framework.layer.__call__

        def called(layer: Any, *args: Any, **kwargs: Any) -> Any:
            path = self.paths.get(id(layer)) if self._mode else None
            if path is None:
                return original(layer, *args, **kwargs)
            step = self._record if self._mode == "record" else self._repeat
            return step(layer, path, args, kwargs)

        self.framework.layer.__call__ = called

    def _record(self, layer: Any, path: str, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        parent = self._stack[-1].index if self._stack else -1
        call = Call(len(self.calls), path, self._next(parent, path), parent, layer, _site(self.root, None))
        self.calls.append(call)
        tensors = [value for _, value in leaves((args, kwargs), self.framework.is_tensor)]
        call.args, call.kwargs = self._kept(args), self._kept(kwargs)
        before = [self.framework.version(value) for value in tensors]
        self._stack.append(call)
        try:
            result = self.original(layer, *args, **kwargs)
        except Exception as error:
            call.error = f"{type(error).__name__}: {error}".strip()
            raise
        finally:
            self._stack.pop()
            call.end = len(self.calls) - 1
        call.written = [self.framework.version(value) for value in tensors] != before
        call.output = self._kept(result)
        return result

    def _repeat(self, layer: Any, path: str, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        if layer is self._target:
            self._target = None
            return self.original(layer, *args, **kwargs)
        key = (path, self._next(-1, path))
        for number, (_, value) in enumerate(leaves((args, kwargs), self.framework.is_tensor)):
            self._entering[f"{path}#{key[1]}:{number}"] = self.framework.keep(value)
        return self._forced[key] if key in self._forced else self.original(layer, *args, **kwargs)

    def _next(self, parent: int, path: str) -> int:
        count = self._counts.get((parent, path), 0)
        self._counts[parent, path] = count + 1
        return count

    def _kept(self, value: Any) -> Any:
        tensors = [self.framework.keep(tensor) for _, tensor in leaves(value, self.framework.is_tensor)]
        return replaced(value, self.framework.is_tensor, tensors)


def leaves(value: Any, is_tensor: Callable[[Any], bool], path: str = "") -> Iterator[Tuple[str, Any]]:
    """Yield place and value of the tensors in nested tuples, lists and dicts."""
    if is_tensor(value):
        yield path, value
    elif isinstance(value, dict):
        for key in value:
            yield from leaves(value[key], is_tensor, f"{path}[{key!r}]")
    elif isinstance(value, (list, tuple)):
        for number, item in enumerate(value):
            yield from leaves(item, is_tensor, f"{path}[{number}]")


def replaced(value: Any, is_tensor: Callable[[Any], bool], tensors: Sequence[Any]) -> Any:
    """Return ``value`` with other tensors in the places that :func:`leaves` yields, in their order."""
    rest = iter(tensors)

    def visit(item: Any) -> Any:
        if is_tensor(item):
            return next(rest)
        if isinstance(item, dict):
            return {key: visit(item[key]) for key in item}
        if isinstance(item, (list, tuple)):
            items = [visit(part) for part in item]
            return type(item)(*items) if hasattr(item, "_fields") else type(item)(items)
        return item

    return visit(value)


def places_of(value: Any, is_tensor: Callable[[Any], bool]) -> List[str]:
    """Return the places of the tensors in a result; ``["?"]`` where something else may hold tensors too."""

    def is_plain(item: Any) -> bool:
        if isinstance(item, (list, tuple)):
            return all(map(is_plain, item))
        if isinstance(item, dict):
            return all(map(is_plain, item.values()))
        return item is None or is_tensor(item) or isinstance(item, _PLAIN)

    return [place for place, _ in leaves(value, is_tensor)] if is_plain(value) else ["?"]


def goes_backward(place: str, forced: Iterable[Tuple[str, int]]) -> bool:
    """Whether gradients start at a place: a result, or what enters a layer that both sides call."""
    layer = place.partition(":")[2].rpartition(":")[0]
    return place.startswith("output:") or layer in {f"{path}#{occurrence}" for path, occurrence in forced}


def cotangent(place: str, shape: Sequence[int]) -> NDArray[Any]:
    """Return the numbers that go backward from a place of a result: the same on every side."""
    generator = np.random.default_rng(zlib.crc32(place.encode()))
    return generator.standard_normal(tuple(shape)).astype(np.float32)


def note_origins(base: Any, root: str) -> None:
    """Make every layer that is built from now on keep the place in the project that builds it."""
    original = base.__init__
    real = os.path.realpath(root) + os.sep
    if getattr(original, "_torch2ms_root", None) is not None:
        original._torch2ms_root[0] = real
        return
    place = [real]

    def initialised(layer: Any, *args: Any, **kwargs: Any) -> None:
        original(layer, *args, **kwargs)
        layer.__dict__[_ORIGIN] = _site(place[0], layer)

    initialised._torch2ms_root = place  # type: ignore[attr-defined]
    base.__init__ = initialised


def origin(layer: Any) -> Site:
    """Return the place in the project that built a layer."""
    found: Site = layer.__dict__.get(_ORIGIN)
    return found


def _site(root: str, layer: Any) -> Site:
    """Return file and line of the innermost frame of the project, but for the methods of ``layer`` itself."""
    frame: Optional[FrameType] = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith(root) and not code.co_filename[len(root) :].startswith("torch2ms_runtime"):
            own = layer is not None and code.co_varnames and frame.f_locals.get(code.co_varnames[0]) is layer
            if not own:
                return [Path(code.co_filename[len(root) :]).as_posix(), frame.f_lineno]
        frame = frame.f_back
    return None


def plain_settings(layer: Any, others: Set[str]) -> Dict[str, Any]:
    """Return the numbers, texts and tuples of them that a layer holds as attributes, but for those called as others."""

    def is_plain(value: Any) -> bool:
        return isinstance(value, _PLAIN) or (isinstance(value, (tuple, list)) and all(map(is_plain, value)))

    held = {key: value for key, value in vars(layer).items() if key not in others and not key.startswith("_")}
    return {key: value for key, value in held.items() if is_plain(value)}
