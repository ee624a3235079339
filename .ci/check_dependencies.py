#!/usr/bin/env python3
"""Checks that docs/src/dependencies.md names exactly the dependencies of the root Cargo.toml, so that each has its line of reason."""
import pathlib
import re
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main() -> int:
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text())
    declared = {n for n, d in manifest["workspace"]["dependencies"].items() if not (isinstance(d, dict) and "path" in d)}
    explained = set()
    for row in (ROOT / "docs/src/dependencies.md").read_text().splitlines():
        if row.startswith("| `"):
            explained |= set(re.findall(r"`([^`]+)`", row.split("|")[1]))
    for name in sorted(declared - explained):
        print(f"check_dependencies: {name} has no line in docs/src/dependencies.md", file=sys.stderr)
    for name in sorted(explained - declared):
        print(f"check_dependencies: docs/src/dependencies.md explains {name}, which Cargo.toml does not have", file=sys.stderr)
    if declared == explained:
        print(f"check_dependencies: {len(declared)} dependencies, each with its reason")
    return declared != explained


if __name__ == "__main__":
    sys.exit(main())
