from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from torch2ms.errors import UsageError
from torch2ms.verify.found_entry import find_entry


def reported(folder: Path, **facts: Any) -> Path:
    (folder / "torch2ms_report").mkdir()
    (folder / "torch2ms_report" / "report.json").write_text(json.dumps({"facts": facts}), encoding="utf-8")
    return folder


def test_what_src_trains_is_taken_with_its_arguments_and_inputs(tmp_path: Path) -> None:
    output = reported(tmp_path, entry="net:Net", entry_kwargs={"classes": 3}, entry_inputs=["2x8"])
    assert find_entry(output, None, ()) == ("net:Net", ("2x8",), {"classes": 3})
    assert find_entry(output, None, ("4x8",), {}) == ("net:Net", ("4x8",), {})
    assert find_entry(output, "net:Other", ("4x8",)) == ("net:Other", ("4x8",), {})


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no network found"):
        find_entry(tmp_path, None, ("2x8",))
    output = reported(tmp_path, entry="net:Net")
    with pytest.raises(UsageError, match="does not show the inputs of net:Net"):
        find_entry(output, None, ())


def test_of_several_networks_none_is_guessed(tmp_path: Path) -> None:
    output = reported(tmp_path, entry="a:A", entries=["a:A", "b:B"])
    with pytest.raises(UsageError, match="several networks") as raised:
        find_entry(output, None, ("2x8",))
    assert "--entry a:A or b:B" in str(raised.value.advice)
