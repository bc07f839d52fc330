"""The hints of messages in the spelling of the command line. Messages have them in the spelling of Python."""

from __future__ import annotations

import re

_SPELLINGS: list[tuple[str, str]] = [
    (r"\b(time|type|order)='([^']*)'", r"--\1 \2"),
    (r"\(time=\.\.\.\)", "(--time)"),
    (r'params=\{"(\w+)": …\}', r"--param \1=…"),
    (r"\bparams has\b", "--param has"),
    (r"applied to one DataFrame\. Give each input its own: cer\(query\)\.over\(\{(.*)\}\)", r"given one. Write \1"),
    (r'"(\w+)": …', r"\1=FILE"),
    (r"\binvalid='skip'", "--skip-invalid"),
    (r"over\(\) has no DataFrame for it", "there is no file for it"),
]

# Their messages have no text of the query in the first line that could look like a hint.
_CONDITIONS = {
    "CER_NO_TIME",
    "CER_PARAMETER",
    "CER_RULES",
    "CER_SEVERAL_STREAMS",
    "CER_UNKNOWN_COLUMN",
    "CER_UNKNOWN_STREAM",
    "CER_UNKNOWN_TYPE",
    "CER_WINDOW_DECREASES",
}


def for_command_line(message: str) -> str:
    """A message with ``--time ts`` instead of ``time='ts'``. The line of the query that it shows stays as it is."""
    condition = re.match(r"\[(\w+)\]", message)
    if not condition or condition[1] not in _CONDITIONS:
        return message
    first, *rest = message.split("\n")
    for python, command_line in _SPELLINGS:
        first = re.sub(python, command_line, first)
    return "\n".join([first, *rest])
