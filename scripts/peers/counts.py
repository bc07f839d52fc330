"""What an engine found, beside the exact number of matches in the same events."""

from __future__ import annotations

from collections.abc import Sequence

from processes import Result

UNKNOWN = "finds other matches, for a reason that is not known"


def reference(result: Result, results: Sequence[Result]) -> int | None:
    """The exact number of matches in the same events, which spark-cer counts without listing them."""
    for other in results:
        if (
            other["peer"].startswith("reference")
            and other["workload"] == result["workload"]
            and other.get("events") == result.get("events")
            and "error" not in other
        ):
            return int(other["matches"])
    return None


def remark(result: Result, results: Sequence[Result]) -> str | None:
    """Why its matches are not those that the workload asks for; None if they are.

    What was counted decides. Where nothing was (no match at all, or a pass that was cut off), the statement does.
    """
    exact = reference(result, results)
    differs: str | None = result["differs"]
    if result["timed_out"] or not exact:
        return differs
    return None if result["matches"] == exact else differs or UNKNOWN


def complaint(result: Result, results: Sequence[Result]) -> str | None:
    """What is wrong with a result, if anything. A pass that was cut off has no count to compare."""
    name = f"{result['workload']}, {result['peer']}"
    if "error" in result:
        return f"{name}: {result['error']}"
    if result["timed_out"]:
        return None
    exact = reference(result, results)
    if exact is None:  # a failure of the reference is a complaint of its own
        return None
    if result["differs"]:
        return f"{name}: no matches, and {exact:,} by the reference" if exact and not result["matches"] else None
    return (
        None if exact == result["matches"] else f"{name}: {result['matches']:,} matches, and {exact:,} by the reference"
    )
