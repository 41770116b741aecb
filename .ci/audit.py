"""Known vulnerabilities of the pinned packages, where the registry tells them. Part of `make check`.

A vulnerability ends it with 1, unless it is listed below with the reason why it does not concern us. Where nobody can
be asked it says so and ends well: a check that could not be made is none that passed, and it does not say "none known".
"""

from __future__ import annotations

import json
import subprocess
import sys

# Identifier of an advisory -> why it does not concern us.
ACCEPTED: dict[str, str] = {}
FILES = ("requirements.txt", "requirements-dev.txt")
PATIENCE_S = 120


def main() -> int:
    files = [part for file in FILES for part in ("-r", file)]
    command = [sys.executable, "-m", "pip_audit", *files, "--no-deps", "--disable-pip", "--format", "json"]
    try:
        done = subprocess.run(
            [*command, "--progress-spinner", "off"], capture_output=True, text=True, timeout=PATIENCE_S
        )
        found = json.loads(done.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, ValueError, KeyError):
        print("Not audited: the advisory service could not be asked.")
        return 0
    known = {
        (package["name"], package["version"], problem["id"])
        for package in found
        for problem in package.get("vulns", ())
        if problem["id"] not in ACCEPTED
    }
    skipped = [package["name"] for package in found if "skip_reason" in package]
    for name, version, problem in sorted(known):
        print(f"{name} {version}: {problem}")
    if known:
        return 1
    if skipped:
        print(f"Not audited: {len(skipped)} of {len(found)} packages, which the advisory service does not answer for.")
    if len(skipped) < len(found):
        print(f"No vulnerability is known of {len(found) - len(skipped)} packages.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
