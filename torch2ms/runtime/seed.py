"""Random numbers: seeds, the stream that shuffles and augments, and states that can be saved.

MindSpore seeds its operators (``ms.set_seed``); what happens on the host, i.e. shuffling and random image transforms,
draws from a :class:`Generator`. It is the 32-bit Mersenne Twister (MT19937, Matsumoto and Nishimura 1998) with the
reductions PyTorch uses, so that from equal seeds ``randperm``, ``rand``, ``randint`` and hence ``random_split`` and
shuffled loaders give PyTorch's order.
"""

from __future__ import annotations

import math
import random
import threading
from contextlib import contextmanager
from typing import Any, Dict, Iterator, List, Optional

import mindspore as ms
import numpy as np
from mindspore import nn, ops

from . import weight_stream

__all__ = [
    "Generator",
    "default_generator",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "mix",
    "seed_operators",
    "set_rng_state",
    "set_seed",
    "start_epoch",
    "use_generator",
]


def _box_muller(values: Any) -> Any:
    """Return 16 normal numbers from 16 uniform ones along the last axis, in their own precision."""
    first, second = 1 - values[..., :8], values[..., 8:]
    radius = np.sqrt(values.dtype.type(-2.0) * np.log(first))
    angle = values.dtype.type(2.0 * math.pi) * second
    return np.concatenate([radius * np.cos(angle), radius * np.sin(angle)], -1).astype(values.dtype)


_MANY = 1 << 28  # ranges from here on are reduced from 64 bits


class Generator:
    """A stream of random numbers of its own.

    Same seed, same numbers as PyTorch's CPU generator for the draws below. ``device`` is accepted and ignored.
    """

    def __init__(self, device: object = "cpu") -> None:
        self.device = device
        self._seed = 67280421310721
        self._kept: Optional[float] = None  # the second of a pair of normal numbers
        self._state: Any = None  # made at the first draw: it is 2.5 KB and takes 70 us

    def manual_seed(self, seed: int) -> Generator:
        """Restart the stream from ``seed`` (its lowest 32 bits count) and return the generator."""
        self._seed, self._kept = int(seed) % 2**64, None
        if self._state is not None:
            self._state.seed(self._seed & 0xFFFFFFFF)
        return self

    def _stream(self) -> Any:
        if self._state is None:
            self._state = np.random.RandomState(self._seed & 0xFFFFFFFF)
        return self._state

    def seed(self) -> int:
        """Restart from a seed of the operating system and return it."""
        self.manual_seed(random.SystemRandom().getrandbits(63))
        return self._seed

    def initial_seed(self) -> int:
        """Return the seed that the stream started from."""
        return self._seed

    def raw(self, count: int) -> List[int]:
        """Return ``count`` draws of 32 bits."""
        return [int(value) for value in self._stream()._bit_generator.random_raw(count)]

    def long(self) -> int:
        """Return one integer from 0 to 2**63 - 1."""
        high, low = self.raw(2)
        return ((high << 32) | low) & 0x7FFFFFFFFFFFFFFF

    def rand(self) -> float:
        """Return a number in [0, 1), a multiple of 2**-24 (float32)."""
        return (self.raw(1)[0] & 0xFFFFFF) * 2.0**-24

    def rands(self, count: int, double: bool = False) -> Any:
        """Return ``count`` numbers in [0, 1) as an array of float32 (or float64): PyTorch's ``rand``."""
        if double:
            high, low = self._stream()._bit_generator.random_raw(2 * count).astype(np.uint64).reshape(-1, 2).T
            return ((high << np.uint64(32) | low) & np.uint64((1 << 53) - 1)) * 2.0**-53
        drawn = self._stream()._bit_generator.random_raw(count)
        return ((drawn & 0xFFFFFF) * 2.0**-24).astype(np.float32)

    def randns(self, count: int, double: bool = False, half: bool = False) -> Any:
        """Return ``count`` standard normal numbers as an array of float32 (or float64): PyTorch's ``randn``.

        Below 16 they are drawn in pairs (Box and Muller 1958) in double precision, of which the second is kept for the
        next call; from 16 on in blocks of 16 in the array's own precision, the last block anew where it is not full.
        Of 16 bits (``half``), PyTorch draws nothing for the block that it draws anew.
        """
        if count < 16:
            return np.asarray([self._normal() for _ in range(count)], np.float64 if double else np.float32)
        values = np.resize(self.rands(count // 16 * 16 if half else count, double), count)
        whole = count // 16 * 16
        values[:whole] = _box_muller(values[:whole].reshape(-1, 16)).reshape(-1)
        if count % 16:
            values[-16:] = _box_muller(self.rands(16, double))
        return values

    def _normal(self) -> float:
        kept, self._kept = self._kept, None
        if kept is not None:
            return kept
        raw = self.raw(4)
        first, second = (((raw[i] << 32 | raw[i + 1]) & (1 << 53) - 1) * 2.0**-53 for i in (0, 2))
        radius, angle = math.sqrt(-2.0 * math.log1p(-second)), 2.0 * math.pi * first
        self._kept = radius * math.sin(angle)
        return radius * math.cos(angle)

    def uniform(self, low: float, high: float) -> float:
        """Return a number in [low, high), computed in float32."""
        low32 = np.float32(low)
        return float(np.float32(self.rand()) * (np.float32(high) - low32) + low32)

    def randint(self, low: int, high: int) -> int:
        """Return an integer from ``low`` to ``high - 1``."""
        span = high - low
        if span <= 0:
            raise ValueError(f"randint: nothing between {low} and {high}")
        if span >= _MANY:
            first, second = self.raw(2)
            return low + ((first << 32) | second) % span
        return low + self.raw(1)[0] % span

    def randperm(self, count: int) -> List[int]:
        """Return 0 to ``count - 1`` in random order."""
        order = list(range(count))
        if count < 2:
            return order
        jumps = self._stream()._bit_generator.random_raw(count - 1) % np.arange(count, 1, -1, dtype=np.uint64)
        for place, jump in enumerate(jumps.tolist()):
            order[place], order[place + jump] = order[place + jump], order[place]
        return order

    def numpy(self) -> np.random.RandomState:
        """Return a NumPy stream seeded from this one, for draws that have no PyTorch counterpart."""
        return np.random.RandomState(self.raw(1)[0])

    def get_state(self) -> Dict[str, Any]:
        """Return the state as arrays and integers (see :func:`set_rng_state`)."""
        _, keys, position, _, _ = self._stream().get_state(legacy=True)
        return {"seed": self._seed, "keys": np.asarray(keys), "position": int(position)}

    def set_state(self, state: Dict[str, Any]) -> None:
        """Go back to a state of :meth:`get_state`."""
        keys = state["keys"]
        keys = keys.asnumpy() if hasattr(keys, "asnumpy") else keys
        self._seed = int(state["seed"])
        self._state = np.random.RandomState()
        self._state.set_state(("MT19937", np.asarray(keys, dtype=np.uint32), int(state["position"])))


class _Streams:
    """The process's stream, the MindSpore seed it follows, and streams that threads put in front of it."""

    def __init__(self) -> None:
        self.main = Generator()
        self.main.seed()
        self.followed: Optional[int] = None
        self.local = threading.local()


_streams = _Streams()


def default_generator() -> Generator:
    """Return the generator that shuffling and transforms draw from now.

    It follows ``ms.set_seed``: a new global seed restarts it.
    """
    local = getattr(_streams.local, "generator", None)
    if local is not None:
        return local  # type: ignore[no-any-return]
    seed = ms.get_seed()
    if seed is not None and seed != _streams.followed:
        _streams.followed = seed
        _streams.main.manual_seed(seed)
    return _streams.main


def initial_seed() -> int:
    """Return the seed that random numbers started from: as in PyTorch there is one though none was set."""
    return default_generator().initial_seed()


@contextmanager
def use_generator(generator: Generator) -> Iterator[Generator]:
    """Draw from ``generator`` in this thread, within the ``with`` block."""
    before = getattr(_streams.local, "generator", None)
    _streams.local.generator = generator
    try:
        yield generator
    finally:
        _streams.local.generator = before


def set_seed(seed: int) -> None:
    """Seed MindSpore (initializers, operators), NumPy, Python's ``random`` and :func:`default_generator`."""
    ms.set_seed(int(seed) & 0x7FFFFFFF)
    random.seed(seed)
    np.random.seed(int(seed) & 0xFFFFFFFF)
    _streams.followed = ms.get_seed()
    _streams.main.manual_seed(seed)
    weight_stream.restart(ms.get_seed())


def manual_seed(seed: int) -> Generator:
    """Seed MindSpore (initializers, operators) and :func:`default_generator`; leave NumPy's and Python's streams alone.

    ``ms.set_seed`` reseeds those two as well; programs that seed them on their own would get other numbers.
    """
    numpy_state, python_state = np.random.get_state(), random.getstate()
    ms.set_seed(int(seed) & 0x7FFFFFFF)
    np.random.set_state(numpy_state)
    random.setstate(python_state)
    _streams.followed = ms.get_seed()
    weight_stream.restart(ms.get_seed())
    return _streams.main.manual_seed(seed)


def seed_operators(seed: int) -> None:
    """Seed MindSpore's operators alone (torch.cuda.manual_seed): the host's streams go on as they were."""
    numpy_state, python_state = np.random.get_state(), random.getstate()
    generator = default_generator()
    ms.set_seed(int(seed) & 0x7FFFFFFF)
    np.random.set_state(numpy_state)
    random.setstate(python_state)
    if generator is _streams.main:
        _streams.followed = ms.get_seed()


def get_rng_state() -> Dict[str, Any]:
    """Return the host's random state (generator, NumPy, Python, MindSpore's seed) as a dict that can be saved."""
    _, keys, position, has_gauss, cached = np.random.get_state()
    version, internal, gauss = random.getstate()
    return {
        "generator": default_generator().get_state(),
        "numpy": {"keys": np.asarray(keys), "position": int(position), "gauss": [int(has_gauss), float(cached)]},
        "python": {"version": version, "internal": np.asarray(internal, dtype=np.int64), "gauss": gauss},
        "mindspore": ms.get_seed(),
    }


def set_rng_state(state: Dict[str, Any]) -> None:
    """Go back to a state of :func:`get_rng_state`."""
    if state["mindspore"] is not None:
        ms.set_seed(int(state["mindspore"]))
    _streams.followed = ms.get_seed()
    _streams.main.set_state(state["generator"])
    numpy_state, python_state = state["numpy"], state["python"]
    has_gauss, cached = numpy_state["gauss"]
    keys = np.asarray(numpy_state["keys"], dtype=np.uint32)
    np.random.set_state(("MT19937", keys, int(numpy_state["position"]), int(has_gauss), float(cached)))
    internal = tuple(int(value) for value in np.asarray(python_state["internal"]))
    random.setstate((int(python_state["version"]), internal, python_state["gauss"]))


@contextmanager
def fork_rng(*args: Any, enabled: bool = True, **options: Any) -> Iterator[None]:
    """Draw random numbers without moving on those that are drawn behind the block; arguments name devices."""
    state = get_rng_state() if enabled else None
    try:
        yield
    finally:
        if state is not None:
            set_rng_state(state)


def mix(*values: int) -> int:
    """Return a seed of 31 bits that depends on all values (FNV-1a over their bytes, then an avalanche step)."""
    state = 2166136261
    for value in values:
        for byte in (int(value) & 0xFFFFFFFFFFFFFFFF).to_bytes(8, "little"):
            state = ((state ^ byte) * 16777619) & 0xFFFFFFFF
    state ^= state >> 16
    return (state * 0x85EBCA6B) & 0x7FFFFFFF


def start_epoch(network: nn.Cell, seed: int, epoch: int) -> None:
    """Restart the random operators from (seed, epoch), so that a resumed run draws what an uninterrupted one does.

    An ``nn.Dropout`` layer's stream is hidden in its kernel, it cannot be saved; a new operator starts it anew. (Once
    an epoch, not once a step: MindSpore keeps some 60 KB for every operator it has ever run.) Two limits remain.
    Steps that are compiled (``ms.jit``) keep the operators of their first call, so that masks differ after resuming.
    And on CPU the masks depend on how the kernel shares its work among threads, which it tunes by the clock from its
    sixth call on: with Dropout on CPU two runs from one seed are alike, not equal. Networks without Dropout resume
    exactly.
    """
    manual_seed(mix(seed, epoch))
    for number, (_, cell) in enumerate(network.cells_and_names()):
        if isinstance(getattr(cell, "dropout", None), ops.Dropout):
            cell.dropout = ops.Dropout(cell.dropout.keep_prob, mix(seed, epoch, number), mix(epoch, number, seed))
