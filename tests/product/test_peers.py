"""docs/peers.md and the README show what `make bench-peers` wrote to docs/peers.json, and nothing else: `make chart`
draws them again."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_tables_show_what_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT / "scripts" / "peers"), *sys.path])
    tables = importlib.import_module("tables")
    results = ROOT / "docs" / "peers.json"
    whole = json.loads(results.read_text(encoding="utf-8")) if results.exists() else None
    for name, parts in tables.pages(whole).items():
        page = (ROOT / name).read_text(encoding="utf-8")
        assert tables.filled(page, parts) == page
