from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from torch2ms.mapping_tables import loader
from torch2ms.mapping_tables.lookup import Tables

WriteTable = Callable[[str], Tables]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCH2MS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(loader, "_loaded", {})


@pytest.fixture
def only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WriteTable:
    """Load tables that hold only the given TOML."""

    def load(text: str) -> Tables:
        folder = tmp_path / "data"
        folder.mkdir(exist_ok=True)
        (folder / "rows.toml").write_text(text, encoding="utf-8")
        monkeypatch.setattr(loader, "DATA", folder)
        loader._loaded.clear()
        return loader.load()

    return load
