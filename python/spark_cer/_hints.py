"""The hints of messages in the spelling of the command line. Messages have them in the spelling of Python."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable

_SPELLINGS: list[tuple[str, str | Callable[[re.Match[str]], str]]] = [
    (r"\b(time|type|order|until)='([^']*)'", lambda hint: f"--{hint[1]} {shlex.quote(hint[2])}"),
    (r"(\[CER_UNTIL\]) until\b", r"\1 --until"),
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
    "CER_UNTIL",
    "CER_WINDOW_DECREASES",
}

# The first line of the message of a rule, in the message of its set.
_OF_RULE = re.compile(r"Rule '(.*?)': (?=\[CER_)")


def for_command_line(message: str) -> str:
    """A message with ``--time ts`` instead of ``time='ts'``. The line of the query that it shows stays as it is."""
    first, *rest = message.split("\n")
    return "\n".join([_spelled(first), *(_of_rule(line) if _OF_RULE.match(line) else line for line in rest)])


def _of_rule(line: str) -> str:
    rule = _OF_RULE.match(line)
    assert rule
    return rule[0] + _spelled(line[rule.end() :]).replace("--param ", f"--param {rule[1]}.")


def _spelled(line: str) -> str:
    condition = re.match(r"\[(\w+)\]", line)
    if condition and condition[1] in _CONDITIONS:
        for python, command_line in _SPELLINGS:
            line = re.sub(python, command_line, line)
    return line
