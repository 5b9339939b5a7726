"""Damaged and hostile files of weights: each is read, or refused by one error that names the file, in time and memory.

python -m tests.properties.weight_mutations --files 2000 --seed 7
"""

from __future__ import annotations

import argparse
import io
import json
import os
import pickle
import random
import resource
import struct
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["hostile", "main", "mutated", "outcome", "run"]

SECONDS = 5.0  # of CPU time, for any of these files of a few kilobytes
MEMORY = 1_200 << 20  # bytes above what the process had before
NUMBERS = (-1, 0, 1, 2**31 - 1, 2**31, 2**62, 2**63 - 1, 2**63, 2**64, 10**12, 10**30, -(2**40))


class Call:
    """An object whose pickle is a call: ``Call("builtins bytes", 5)``."""

    def __init__(self, name: str, *arguments: Any) -> None:
        self.name = name
        self.arguments = arguments


def _pickled(value: Any) -> bytes:
    """Return a pickle of protocol 2 by hand, with calls by name (no class need exist) and shared objects by memo."""
    out = io.BytesIO(b"")
    out.write(b"\x80\x02")
    _write(value, out)
    return out.getvalue() + b"."


def _write(value: Any, out: io.BytesIO) -> None:
    if isinstance(value, bytes):  # opcodes as they are
        out.write(value)
    elif isinstance(value, Call):
        module, _, name = value.name.partition(" ")
        out.write(b"c" + module.encode() + b"\n" + name.encode() + b"\n")
        _write(value.arguments, out)
        out.write(b"R")
    elif isinstance(value, tuple):
        out.write(b"(")
        for item in value:
            _write(item, out)
        out.write(b"t")
    elif isinstance(value, dict):
        out.write(b"}(")
        for key, item in value.items():
            _write(key, out)
            _write(item, out)
        out.write(b"u")
    else:
        out.write(pickle.dumps(value, protocol=2)[2:-1])


def _archive(program: bytes, storages: dict[str, bytes], *, method: int = zipfile.ZIP_STORED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        archive.writestr("archive/data.pkl", program)
        for key, data in storages.items():
            archive.writestr(f"archive/data/{key}", data)
        archive.writestr("archive/version", b"3\n")
    return made.getvalue()


def _storage(key: str, size: Any, kind: str = "FloatStorage") -> bytes:
    out = io.BytesIO()
    out.write(b"(")
    _write("storage", out)
    out.write(f"ctorch\n{kind}\n".encode())
    for item in (key, "cpu", size):
        _write(item, out)
    out.write(b"tQ")
    return out.getvalue()


def _tensor(size: Any, offset: Any, shape: Any, strides: Any) -> Call:
    return Call("torch._utils _rebuild_tensor_v2", _storage("0", size), offset, shape, strides, False, None)


def hostile() -> Iterator[tuple[str, bytes]]:
    """Yield (name of the file, bytes): small files that ask for much, name code, or hold what is no size."""
    four = {"0": np.arange(4, dtype="<f4").tobytes()}
    shapes = [(10**12,), (10**6, 10**6), (-1,), (2**64,), (0, -1), (10**30, 0), (1,) * 40, (2**63 - 1, 2), 5, "x", None]
    for number, shape in enumerate(shapes):
        for strides in ((0,) * len(shape) if isinstance(shape, tuple) else (0,), (1,), (-1, 0), (2**63,)):
            program = _pickled({"w": _tensor(4, 0, shape, strides)})
            yield f"shape-{number}-{len(strides)}-{strides[0]}.pth", _archive(program, four)
    for size in NUMBERS:
        yield f"claims-{size}.pth", _archive(_pickled({"w": _tensor(size, 0, (2, 2), (2, 1))}), four)
        yield f"offset-{size}.pth", _archive(_pickled({"w": _tensor(4, size, (2,), (1,))}), four)
        yield f"old-{size}.pth", _old_format(size)
        for tag in ("F32", "F64", "BOOL"):
            header = {"w": {"dtype": tag, "shape": [size], "data_offsets": [0, 16]}}
            yield f"size-{size}-{tag}.safetensors", _safetensors(json.dumps(header), bytes(16))
            header = {"w": {"dtype": tag, "shape": [4], "data_offsets": [size, 16]}}
            yield f"begin-{size}-{tag}.safetensors", _safetensors(json.dumps(header), bytes(16))
    for number, value in enumerate(_expanding()):
        yield f"expands-{number}.pth", _archive(_pickled({"w": value}), {})
        yield f"key-{number}.pth", _archive(_pickled(b"}" + _bytes_of(value) + b"Ns"), {})
    yield "bomb.pth", _archive(b"\x80\x02" + b"N0" * (200 << 20) + b"N.", {}, method=zipfile.ZIP_DEFLATED)
    yield "deep.pth", _archive(b"\x80\x02" + b"]" * 100_000 + b"a" * 99_999 + b".", {})
    yield "deep-key.pth", _archive(b"\x80\x02}" + b")" + b"\x85" * 100_000 + b"Ns.", {})
    yield "code.pth", _archive(_pickled(Call("os system", "touch ran")), {})
    yield "code-2.pth", _archive(_pickled(Call("builtins eval", "open('ran','w')")), {})
    yield "code-3.pth", _archive(b"\x80\x02(S'touch ran'\nios\nsystem\n.", {})
    for number, content in enumerate(_hostile_ckpts()):
        yield f"parameter-{number}.ckpt", content
    for number, text in enumerate(_hostile_indices()):
        yield f"x-{number}.index.json", text.encode()
    deep = "[" * 100_000 + "]" * 100_000
    yield "deep.safetensors", _safetensors(f'{{"w": {deep}}}', b"")
    for text in ("[]", "3", '{"w": 3}', '{"__metadata__": 5}', '{"__metadata__": {"a": 1}}', '{"": {}}', '{"w": null}'):
        yield f"header-{len(text)}.safetensors", _safetensors(text, b"")
    yield "tree.safetensors", _checkpoint('{"d": [["w", {"l": ' * 5_000 + "1" + "}]]}" * 5_000)
    for tree in (
        '{"x": "w"}',
        '[{"x": "w"}, 1]',
        '{"s":0}',
        '{"o":"w"}',
        '{"d": 3}',
        '{"q": 1, "r": 2}',
        '{"ns": [[1, 2]]}',
    ):
        yield f"tree-{len(tree)}.safetensors", _checkpoint(tree)


def _hostile_ckpts() -> Iterator[bytes]:
    """Yield checkpoints of MindSpore's whose sizes, lengths or types are none."""
    for size in NUMBERS:
        for kind in ("Float32", "Bool", "str", "Complex64", ""):
            yield _parameter([size, 2], kind, bytes(16))
            yield _parameter([0, size], kind, b"")
        yield b"\x0a" + _varint(size) + b"\x0a\x01w"
        yield _field(1, _field(1, b"w") + b"\x12" + _varint(size))
    yield _parameter([1] * 10_000, "Float32", bytes(4))
    yield _parameter([4], "Float32", bytes(16)) + _parameter([2], "Float32", bytes(8))
    yield b"\x0a" * 100_000
    yield b"\xff" * 100_000
    yield _parameter([4], "Float32", bytes(16)) + b"crc_num" + bytes(10)


def _parameter(dims: list[int], kind: str, content: bytes) -> bytes:
    tensor = b"".join(b"\x08" + _varint(size) for size in dims) + _field(2, kind.encode()) + _field(3, content)
    return _field(1, _field(1, b"w") + _field(2, tensor))


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    value %= 1 << 70
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def _hostile_indices() -> Iterator[str]:
    """Yield indices of shards that name what is none, or name it without end."""
    names = (
        "../a",
        "/dev/zero",
        "/dev/stdin",
        ".",
        "",
        "shard-9.safetensors",
        "a\x00b",
        "\x1b[2J",
        "x" * 10_000,
        "a/b",
    )
    for name in (*names, "x-0.index.json"):
        yield json.dumps({"weight_map": {"w": name}})
    for value in (3, None, ["shard-1.safetensors"], {}, {"a": 3}, "w"):
        yield json.dumps({"weight_map": value})
    yield '{"weight_map": ' + '{"a": ' * 100_000 + "1" + "}" * 100_001
    yield json.dumps({"weight_map": {f"w{number}": f"shard-{number}.bin" for number in range(50_000)}})
    yield json.dumps({"weight_map": {"w": "shard-1.safetensors", "w" * 100_000: "shard-1.safetensors"}})


def _expanding() -> Iterator[Any]:
    """Yield small pickles of large things."""
    doubled = b"(" + b"Nq\x00" + b"".join(b"h%ch%c\x86q%c" % (i, i, i + 1) for i in range(60)) + b"1h<"
    yield doubled
    yield b"]q\x00" + b"".join(b"]q%ch%cah%ca" % (i + 1, i, i) for i in range(60))
    for number in (10**12, 10**9, 2**70):
        for kind in ("bytes", "bytearray"):
            yield Call(f"builtins {kind}", number)
        for kind in ("list", "tuple", "set", "frozenset", "str", "bytes"):
            yield Call(f"builtins {kind}", Call("builtins range", 0, number))
        yield Call("collections deque", Call("builtins range", number))
        yield Call("collections Counter", Call("builtins range", number))
    yield Call("builtins str", 10**100_000)
    yield Call("builtins int", "9" * 1_000_000)
    yield Call("builtins str", doubled)
    yield Call("numpy dtype", "V2000000000")
    yield Call("numpy ndarray", (10**12,))
    yield Call("_codecs encode", "x" * 100_000, "idna")
    yield b"r\xff\xff\xff\x7f"  # an index of the memo
    yield b"Nr\xff\xff\xff\x7f"
    yield b"\x8e" + struct.pack("<Q", 2**62)
    yield b"\x96" + struct.pack("<Q", 2**40)
    yield b"\x8b" + struct.pack("<i", 2**31 - 1)
    yield b"\x95" + struct.pack("<Q", 2**62) + b"N"
    yield b"]" + b"cbuiltins\nlist\n2\x85R" * 10
    yield b"(" + b"K\x01" * 100_000 + b"l" + b"".join(b"q\x01cbuiltins\nlist\nh\x01\x85R" for _ in range(20_000))


def _bytes_of(value: Any) -> bytes:
    out = io.BytesIO()
    _write(value, out)
    return out.getvalue()


def _old_format(size: int) -> bytes:
    out = b"".join(pickle.dumps(item, 2) for item in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}))
    storage = b"(" + _bytes_of("storage") + b"ctorch\nFloatStorage\n"
    storage += b"".join(map(_bytes_of, ("0", "cpu", size, None))) + b"tQ"
    value = Call("torch._utils _rebuild_tensor_v2", storage, 0, (1,), (0,), False, None)
    return (
        out
        + _pickled({"w": value})
        + pickle.dumps(["0"], 2)
        + struct.pack("<q", max(-1, min(size, 2**63 - 1)))
        + bytes(16)
    )


def _safetensors(header: str, data: bytes) -> bytes:
    text = header.encode()
    return len(text).to_bytes(8, "little") + text + data


def _checkpoint(tree: str) -> bytes:
    header = {"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}
    return _safetensors(json.dumps({**header, "__metadata__": {"torch2ms": "torch2ms-1", "tree": tree}}), bytes(4))


# ---- files of ordinary programs, damaged


def _originals() -> list[tuple[str, bytes]]:
    import mindspore as ms
    import torch

    from torch2ms.runtime import checkpoint

    state: dict[str, Any] = {
        "state_dict": torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2)).state_dict(),
        "epoch": 3, "array": np.arange(6).reshape(2, 3), "best": np.float64(0.5), "list": [torch.ones(2), (1, None)],
        "half": torch.ones(2).bfloat16(),
    }  # fmt: skip
    found = []
    for is_archive in (True, False):
        stream = io.BytesIO()
        torch.save(state, stream, _use_new_zipfile_serialization=is_archive)
        found.append((f"saved-{is_archive}.pth", stream.getvalue()))
    with tempfile.TemporaryDirectory() as folder:
        network = ms.nn.SequentialCell(ms.nn.Dense(3, 2), ms.nn.BatchNorm1d(2))
        checkpoint.save({"w": ms.Tensor([1.0, 2.0]), "n": [1, (2, None)]}, Path(folder, "own.safetensors"))
        checkpoint.save(network.parameters_dict(), Path(folder, "net.pth"))
        ms.save_checkpoint(network, str(Path(folder, "net.ckpt")))
        found += [(path.name, path.read_bytes()) for path in sorted(Path(folder).iterdir())]
    header: dict[str, Any] = {
        "w": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
        "b": {"dtype": "BF16", "shape": [2], "data_offsets": [16, 20]},
        "__metadata__": {"format": "pt"},
    }
    found.append(("plain.safetensors", _safetensors(json.dumps(header), bytes(20))))
    index = {
        "metadata": {"total_size": 36},
        "weight_map": dict.fromkeys("wb", "shard-1.safetensors") | {"p": "shard-2.bin"},
    }
    found.append(("model.safetensors.index.json", json.dumps(index, indent=2).encode()))
    return found


def _write_shards(folder: Path) -> None:
    """Write the files that the index names."""
    header = {
        "w": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
        "b": {"dtype": "F32", "shape": [2], "data_offsets": [16, 24]},
    }
    (folder / "shard-1.safetensors").write_bytes(_safetensors(json.dumps(header), bytes(24)))
    program = _pickled({"p": _tensor(4, 0, (4,), (1,))})
    (folder / "shard-2.bin").write_bytes(_archive(program, {"0": bytes(16)}))


def _damage(content: bytes, rng: random.Random) -> bytes:
    """Change some bytes, cut, repeat or insert some, or write another number for one."""
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 5))):
        place = rng.randrange(len(data)) if data else 0
        kind = rng.randrange(6)
        if kind == 0 and data:
            data[place] = rng.randrange(256)
        elif kind == 1:
            del data[place : place + rng.choice((1, 4, 100, len(data)))]
        elif kind == 2:
            data[place:place] = data[place : place + rng.choice((1, 8, 64))]
        elif kind == 3:
            data[place:place] = rng.randbytes(rng.choice((1, 4, 8)))
        elif kind == 4:
            data[place : place + 8] = struct.pack("<Q", rng.choice([n % 2**64 for n in NUMBERS]))
        else:
            digits = [i for i, byte in enumerate(data) if 48 <= byte < 58]
            if digits:
                chosen = rng.choice(digits)
                data[chosen : chosen + 1] = str(rng.choice(NUMBERS)).encode()
    return bytes(data)


def _rebuilt(content: bytes, rng: random.Random) -> bytes:
    """Damage one part of an archive and keep the archive's own sums right; or the header, and keep its length right."""
    if content[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        name = rng.choice([name for name in parts if name.endswith("data.pkl")] * 3 + list(parts))
        parts[name] = _damage(parts[name], rng)
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w") as archive:
            for key, data in parts.items():
                archive.writestr(key, data)
        return made.getvalue()
    if content[8:9] == b"{":
        end = 8 + int.from_bytes(content[:8], "little")
        return _safetensors(_damage(content[8:end], rng).decode("utf-8", "replace"), content[end:])
    return _damage(content, rng)


def mutated(count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """Yield ``count`` damaged files that ordinary programs wrote."""
    originals = _originals()
    for number in range(count):
        rng = random.Random(f"{seed} {number}")
        name, content = originals[number % len(originals)]
        change: Callable[[bytes, random.Random], bytes] = rng.choice((_damage, _rebuilt, _rebuilt))
        yield f"{seed}-{number}-{name}", change(content, rng)


def outcome(path: Path) -> str:
    """Read a file in each of the ways that read it, and return what is wrong with how that went; "" when nothing is.

    What is read as weights is written as well, to both formats of MindSpore's: whole, or not at all.
    """
    from torch2ms.runtime import checkpoint, weight_files

    def converted(read: Callable[[Path], tuple[dict[str, Any], list[str]]]) -> str:
        values = read(path)[0]
        for suffix in ("ckpt", "safetensors"):
            written = path.with_name(f"written.{suffix}")
            try:
                weight_files.write_mindspore(values, written)
            except weight_files.WeightsError as error:
                if written.exists():
                    raise ValueError("partly written") from error
                raise weight_files.WeightsError(f"{path}: {error}") from error
            for made in (written, written.with_name(f"{written.name}.sha256")):
                made.unlink()
        return "written"

    faults = []
    readers: list[tuple[Callable[[], Any], type[Exception]]] = [
        (lambda: converted(weight_files.read_torch), weight_files.WeightsError),
        (lambda: converted(weight_files.read_mindspore), weight_files.WeightsError),
        (lambda: checkpoint.load(path, weights_only=True), checkpoint.CheckpointError),
    ]
    for read, error in readers:
        started, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            found = read()
            faults += [] if found is not None or error is checkpoint.CheckpointError else ["nothing was read"]
        except error as refused:
            text = str(refused)
            if path.name not in text:
                faults.append(f"the file is not named: {text[:200]}")
            if len(text) > 2_000 or not text.replace("\n", "").isprintable():
                faults.append(f"a message that is long or not printable: {text[:200]!r}")
        except BaseException as other:
            faults.append(f"{type(other).__name__}: {str(other)[:200]}")
        used = time.process_time() - started
        if used > SECONDS:
            faults.append(f"took {used:.1f} s")
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10
        if grown > MEMORY:
            faults.append(f"took {grown >> 20} MiB")
    return "; ".join(faults)


def run(files: Iterator[tuple[str, bytes]], folder: Path) -> dict[str, str]:
    """Return what is wrong, by the names of the files."""
    found = {}
    _write_shards(folder)
    kept = set(os.listdir(folder))
    for name, content in files:
        path = folder / name
        path.write_bytes(content)
        fault = outcome(path)
        if fault:
            found[name] = fault
        path.unlink()
        for left in set(os.listdir(folder)) - kept:
            found[name] = f"{found.get(name, '')}; left {left}".lstrip("; ")
            (folder / left).unlink()
    if Path("ran").exists() or (folder / "ran").exists():
        found["ran"] = "code in a file was run"
    return found


def main() -> int:
    """Run a campaign; 1 when something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        faults = run(hostile(), Path(folder)) | run(mutated(given.files, given.seed), Path(folder))
    for name, fault in faults.items():
        print(f"{name}: {fault}")
    print(f"{given.files} damaged files, {sum(1 for _ in hostile())} hostile ones: {len(faults)} failures")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
