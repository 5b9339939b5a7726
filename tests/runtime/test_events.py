"""Event files: the records are what TensorBoard reads."""

from __future__ import annotations

import io
import json
import struct
import wave
from pathlib import Path

import mindspore as ms
import numpy as np
import pytest

from torch2ms.runtime import events


def fields(content):
    """Return (field, value) of a message: varints and fixed numbers as numbers, the rest as bytes."""
    position, found = 0, []

    def varint():
        nonlocal position
        value = shift = 0
        while True:
            byte = content[position]
            position += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while position < len(content):
        key = varint()
        kind = key & 7
        if kind == 0:
            found.append((key >> 3, varint()))
            continue
        size = {1: 8, 5: 4}.get(kind) or varint()
        part = content[position : position + size]
        position += size
        found.append((key >> 3, struct.unpack({1: "<d", 5: "<f"}[kind], part)[0] if kind in (1, 5) else part))
    return found


def written(folder):
    """Return the summaries of the event files below ``folder`` as (step, tag, field, content)."""
    found = []
    for path in sorted(Path(folder).rglob("events.out.tfevents.*")):
        content = path.read_bytes()
        while content:
            size = struct.unpack("<Q", content[:8])[0]
            event = content[12 : 12 + size]
            assert struct.unpack("<I", content[8:12])[0] == events._masked_crc(content[:8])
            assert struct.unpack("<I", content[12 + size : 16 + size])[0] == events._masked_crc(event)
            content = content[16 + size :]
            parts = dict(fields(event))
            if 5 in parts:
                value = fields(dict(fields(parts[5]))[1])
                found.append((parts.get(2), dict(value)[1].decode(), value[-1][0], value[-1][1]))
    return found


def test_the_checksum_is_crc_32c():
    masked = events._masked_crc(b"123456789")
    crc = (masked - 0xA282EAD8) & 0xFFFFFFFF
    assert ((crc >> 17) | (crc << 15)) & 0xFFFFFFFF == 0xE3069283


def test_numbers(tmp_path):
    with events.SummaryWriter(tmp_path) as writer:
        writer.add_scalar("loss", ms.Tensor(0.5), 3)
        writer.add_scalar("loss", np.float64(0.25), global_step=300)
        writer.add_scalars("both", {"a": 1, "b": ms.Tensor([2.0])}, 1)
        assert writer.get_logdir() == str(tmp_path)
    assert written(tmp_path) == [
        *[(1, "both", 2, 1.0), (1, "both", 2, 2.0)],
        *[(3, "loss", 2, 0.5), (300, "loss", 2, 0.25)],
    ]


def test_distributions_pictures_and_texts(tmp_path):
    writer = events.SummaryWriter(log_dir=tmp_path)
    writer.add_histogram("weights", ms.Parameter(ms.Tensor([1.0, 2.0, 4.0])), 1)
    writer.add_image("picture", ms.Tensor(np.ones((3, 4, 5), np.float32)), 2)
    writer.add_images("pictures", np.zeros((2, 1, 4, 5), np.uint8), 3)
    writer.add_text("note", "done", 4)
    writer.add_graph(None)
    writer.close()
    found = written(tmp_path)
    assert [entry[:3] for entry in found] == [
        (1, "weights", 5), (2, "picture", 4), (3, "pictures", 4), (4, "note/text_summary", 8),
    ]  # fmt: skip
    histogram = dict(fields(found[0][3]))
    assert [histogram[field] for field in (1, 2, 3, 4, 5)] == [1, 4, 3, 7, 21]
    assert np.frombuffer(histogram[7]).sum() == 3
    assert dict(fields(found[1][3]))[1] == 4
    assert dict(fields(found[2][3]))[2] == 10
    assert dict(fields(found[3][3]))[8] == b"done"


def test_sounds(tmp_path):
    with events.SummaryWriter(tmp_path) as writer:
        writer.add_audio("voice", ms.Tensor([[0.0, 0.5, -2.0]]), 7, sample_rate=8000)
        with pytest.raises(ValueError, match="one dimension"):
            writer.add_audio("voice", np.zeros((2, 3)))
    ((step, tag, field, content),) = written(tmp_path)
    assert (step, tag, field) == (7, "voice", 6)
    sound = dict(fields(content))
    assert (sound[1], sound[2], sound[3], sound[5]) == (8000.0, 1, 3, b"audio/wav")
    with wave.open(io.BytesIO(sound[4])) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (8000, 1, 2)
        assert np.frombuffer(file.readframes(3), "<i2").tolist() == [0, 16383, -32767]


def test_an_empty_histogram_is_refused(tmp_path):
    with pytest.raises(ValueError, match="no values"):
        events.SummaryWriter(tmp_path).add_histogram("x", [], 1)


def test_numbers_drawn_together_are_exported(tmp_path):
    with events.SummaryWriter(tmp_path / "log") as writer:
        writer.add_scalar("alone", 1.0, 1)
        writer.add_scalars("loss", {"train": ms.Tensor(0.5), "test": 2}, 3, walltime=7.0)
        writer.export_scalars_to_json(tmp_path / "all.json")
        writer.export_scalars_to_json(tmp_path / "none.json")
    found = json.loads((tmp_path / "all.json").read_text())
    assert {Path(tag).name: rows for tag, rows in found.items()} == {"train": [[7.0, 3, 0.5]], "test": [[7.0, 3, 2.0]]}
    assert json.loads((tmp_path / "none.json").read_text()) == {}
