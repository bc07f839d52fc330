"""The notebook runs from top to bottom, and its output is the saved output. `CER_UPDATE=1` saves it again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

from tests.connect_server import environment

notebooks: Any = nbformat  # its functions have no type annotations
NOTEBOOK = Path(__file__).parents[2] / "examples" / "carts.ipynb"


def shown(notebook: Any) -> list[list[Any]]:
    """The printed output of each cell. Of a picture only that there is one, because pictures depend on the fonts."""
    return [
        [output["text"] if "text" in output else sorted(output["data"]) for output in cell.outputs]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def test_the_notebook(tmp_path: Path) -> None:
    saved = notebooks.read(NOTEBOOK, as_version=4)
    fresh = notebooks.read(NOTEBOOK, as_version=4)
    client = NotebookClient(fresh, timeout=300, record_timing=False, resources={"metadata": {"path": str(tmp_path)}})
    client.execute(env=environment())
    for cell in fresh.cells:
        # Remove the start-up messages of Java.
        cell.outputs = [output for output in cell.get("outputs", []) if output.get("name") != "stderr"]
        if cell.cell_type != "code":
            del cell["outputs"]
    if os.environ.get("CER_UPDATE"):
        notebooks.write(fresh, NOTEBOOK)
        saved = fresh
    assert shown(fresh) == shown(saved)
    assert [output for output in shown(saved) if output], "the notebook was saved without outputs"
