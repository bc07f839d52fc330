"""Where and when something was measured."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
from pathlib import Path

import processes


def description() -> dict[str, str]:
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "processor": processor(),
        "cores": str(os.cpu_count()),
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB",
        "system": platform.system(),
        "java": java(),
        "python": platform.python_version(),
        "commit": commit(),
    }


def processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def java() -> str:
    _, errors, _ = processes.run([str(processes.ROOT / "scripts" / "env"), "java", "-version"], 60)
    return errors.splitlines()[0].split('"')[1] if '"' in errors else "unknown"


def commit() -> str:
    done = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=processes.ROOT, capture_output=True, text=True, check=False
    )
    changed = subprocess.run(
        ["git", "status", "--porcelain", "--", "jvm", "python", "scripts/peers", "build.sbt", "versions.properties"],
        cwd=processes.ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return (done.stdout.strip() or "unknown") + (" with changes" if changed.stdout.strip() else "")
