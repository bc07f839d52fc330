"""Runs a benchmark of two versions in turn, so that a slow moment of the machine hits both, and prints for each of its
figures the median of either and the range of the old one: `make compare OLD=v0.1.0 ARGS='engine --pairs 5'`.

With many figures some differ by chance, up as often as down. So the last lines count both, and give the mean ratio.
"""

from __future__ import annotations

import argparse
import math
import re
import subprocess
import sys
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
MAINS = {"engine": "EngineBenchmark", "spark": "SparkBenchmark", "views": "ViewsBenchmark"}
ENGINE_COLUMNS = ("update, conditions", "update, masks", "total, conditions", "total, masks")

Figures = dict[str, tuple[float, bool]]  # by name: the figure, and whether more is better


def sbt(tree: Path, command: str, gc: str) -> list[str]:
    """The lines that a command of sbt prints."""
    done = subprocess.run(
        ["env", f"SBT_OPTS=-Dbench.gc={gc}", "CI=true", str(tree / "scripts" / "sbt"), command],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        sys.exit(f"sbt {command} failed in {tree}:\n{done.stdout[-2000:]}")
    return done.stdout.strip().splitlines()


def tree_of(version: str) -> Path:
    """A folder as it is, or a commit in a work tree of its own, with the tools of this one."""
    if Path(version).is_dir():
        return Path(version).resolve()
    found = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", version], capture_output=True, text=True)
    if found.returncode:
        sys.exit(f"'{version}' is neither a folder nor a commit.")
    tree = ROOT / ".tools" / "compare" / found.stdout.strip()
    if not tree.exists():
        subprocess.run(["git", "-C", str(ROOT), "worktree", "add", "--detach", str(tree), version], check=True)
        (tree / ".tools").mkdir()
        for tool in (ROOT / ".tools").iterdir():
            if tool.name != "compare":
                (tree / ".tools" / tool.name).symlink_to(tool)
        (tree / ".venv").symlink_to(ROOT / ".venv")
    return tree


def figures(bench: str, printed: str) -> Figures:
    """What a run printed: rates of the engine by workload, or the bars of the others with the seconds behind them."""
    found: Figures = {}
    for line in printed.splitlines():
        row = re.match(r"(\S+)((?: +[\d.]+){6} .*)$", line)
        bar = re.match(r"(?:PASS|MISS)  (.+?) +([\d.]+)  \((at least|at most) [\d.]+\)(.*)$", line)
        if bench == "engine" and row:
            for column, value in zip(ENGINE_COLUMNS, row[2].split(), strict=False):
                found[f"{row[1]}: {column}"] = (float(value), True)
        elif bench != "engine" and bar:
            found[bar[1]] = (float(bar[2]), bar[3] == "at least")
            for seconds, what in re.findall(r"([\d.]+) s (ours)", bar[4]):
                found[f"{bar[1]}, seconds {what}"] = (float(seconds), False)
            for what, seconds in re.findall(r"(ViewDF) +([\d.]+) s", bar[4]):
                found[f"{bar[1]}, seconds {what}"] = (float(seconds), False)
    return found


def report(old: list[Figures], new: list[Figures]) -> None:
    width = max(map(len, old[0]))
    fell, rose, logs = 0, 0, 0.0
    for name, (_, more) in old[0].items():
        before, after = [f[name][0] for f in old], [f[name][0] for f in new]
        was, now = median(before), median(after)
        gain = (now / was if more else was / now) if was and now else 1.0
        outside = not min(before) <= now <= max(before)
        verdict = "" if not outside else "rose" if gain > 1 else "FELL"
        fell, rose = fell + (verdict == "FELL"), rose + (verdict == "rose")
        logs += math.log(gain)
        print(
            f"{name:{width}} {was:9.2f} [{min(before):.2f} to {max(before):.2f}] -> {now:9.2f}  {gain:5.2f}  {verdict}"
        )
    print(
        f"\n{len(old[0])} figures, {len(old)} pairs: {fell} fell below the range of the old ones, {rose} rose above it."
    )
    print(f"Mean of new / old, where more than 1 is faster: {math.exp(logs / len(old[0])):.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench", choices=MAINS)
    parser.add_argument("--old", required=True, help="a commit, or a folder with a checkout")
    parser.add_argument("--new", default=str(ROOT), help="the same; by default this checkout")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--log", type=Path, help="a folder for what each run prints")
    options, rest = parser.parse_known_args()  # the rest goes to the benchmark
    gc = "Serial" if options.bench == "engine" else "G1"
    trees = {name: tree_of(version) for name, version in (("old", options.old), ("new", options.new))}
    paths = {name: sbt(tree, "export benchmarks/Runtime/fullClasspath", gc)[-1] for name, tree in trees.items()}
    options_of_java = sbt(trees["new"], "print benchmarks/run/javaOptions", gc)
    flags = [line.removeprefix("* ") for line in options_of_java if line.startswith("* ")]
    results: dict[str, list[Figures]] = {"old": [], "new": []}
    for pair in range(options.pairs):
        for name in ("old", "new") if pair % 2 == 0 else ("new", "old"):
            command = [*flags, "-cp", paths[name], f"sparkcer.benchmarks.{MAINS[options.bench]}", *rest]
            done = subprocess.run(
                [str(ROOT / "scripts" / "env"), "java", *command], capture_output=True, text=True, cwd=trees[name]
            )
            if done.returncode:
                sys.exit(f"The {name} version failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
            if options.log:
                options.log.mkdir(parents=True, exist_ok=True)
                (options.log / f"{options.bench}-{pair}-{name}.txt").write_text(done.stdout, encoding="utf-8")
            results[name].append(figures(options.bench, done.stdout))
            print(f"pair {pair + 1} of {options.pairs}, {name}: {len(results[name][-1])} figures", flush=True)
    report(results["old"], results["new"])


if __name__ == "__main__":
    main()
