"""A case that hangs its process, or takes all memory, is answered by an error; those behind it are run all the same."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from torch2ms.mapping_tables import execution

# A side in the place of an interpreter: it does what the ids of its cases say
SIDE = f"""#!{sys.executable}
import pickle, sys, time
cases, results = sys.argv[-2:]
with open(results, "ab") as stream:
    for case in pickle.load(open(cases, "rb")):
        pickle.dump(("start", case["id"]), stream)
        stream.flush()
        held = [bytearray(1 << 20)]
        while case["id"] == "hangs":
            time.sleep(0.1)
        while case["id"] == "grows":
            held.append(bytearray(b"1" * (1 << 20)))
        pickle.dump(("done", case["id"], {{"ok": case["id"]}}), stream)
        stream.flush()
"""


@pytest.fixture
def side(tmp_path: Path) -> str:
    path = tmp_path / "side"
    path.write_text(SIDE, encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def test_what_hangs_or_grows_is_ended(side: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "MEMORY", 300 << 20)
    cases = [{"id": name} for name in ("first", "hangs", "second", "grows", "third")]
    answers = execution.Workplace(tmp_path).run("mindspore", side, cases, patience=0.5)
    assert [answers[name] for name in ("first", "second", "third")] == [
        {"ok": "first"},
        {"ok": "second"},
        {"ok": "third"},
    ]
    assert answers["hangs"] == {"error": "no result for 0.5 s", "type": "Crash"}
    assert answers["grows"]["type"] == "Crash"
    assert answers["grows"]["error"].endswith("MiB of memory")


def test_a_process_that_is_gone_holds_nothing() -> None:
    assert execution.memory_of(2**30) == 0
