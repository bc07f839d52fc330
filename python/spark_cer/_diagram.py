"""A query's automaton as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark.errors import PySparkValueError


class Diagram:
    """The automaton of a query, as :meth:`Cer.diagram` returns it. A notebook displays it.

    :ivar svg: the picture as self-contained SVG
    :ivar mermaid: the same picture as a Mermaid flowchart, for Markdown
    """

    def __init__(self, svg: str, mermaid: str) -> None:
        self.svg = svg
        self.mermaid = mermaid

    def save(self, path: str | Path) -> None:
        """Writes the picture to a file: ``.svg``, or ``.mmd`` for Mermaid."""
        texts = {".svg": self.svg, ".mmd": self.mermaid}
        suffix = Path(path).suffix
        if suffix not in texts:
            raise PySparkValueError(f"A diagram is saved as .svg or .mmd, not as '{suffix}'.")
        Path(path).write_text(texts[suffix] + "\n", encoding="utf-8")

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return f'<div style="overflow-x: auto">{self.svg}</div>'

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {
            "image/svg+xml": self.svg,
            "text/html": self._repr_html_(),
            "text/vnd.mermaid": self.mermaid,
            "text/plain": self.mermaid,
        }

    def __repr__(self) -> str:
        return self.mermaid
