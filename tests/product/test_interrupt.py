"""Ctrl-C in `make test` ends what the tests have started in process groups of their own."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

import pytest

from scripts import test as lanes

# What a test does that has started a broker: it ends it when it is interrupted.
TEST = """
import pathlib, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
try:
    pathlib.Path(sys.argv[1]).write_text(str(child.pid))
    time.sleep(600)
finally:
    child.kill()
    child.wait()
    pathlib.Path(sys.argv[2]).touch()
"""


def test_an_interrupted_command_ends_what_it_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "running", [])
    monkeypatch.setattr(lanes, "interrupted", threading.Event())
    started, ended = tmp_path / "started", tmp_path / "ended"
    command = threading.Thread(target=lanes.run, args=(sys.executable, "-c", TEST, str(started), str(ended)))
    command.start()
    while not started.exists():
        time.sleep(0.02)
    lanes.end_all()
    command.join(10)
    assert not command.is_alive()
    assert ended.exists()
    assert not lanes.run(sys.executable, "-c", "")  # nothing else begins
