"""The default of an argument for which None is a meaningful value."""

from __future__ import annotations

from enum import Enum
from typing import Final


class NotGiven(Enum):
    NOT_GIVEN = "not given"

    def __repr__(self) -> str:
        return "<not given>"


NOT_GIVEN: Final = NotGiven.NOT_GIVEN
