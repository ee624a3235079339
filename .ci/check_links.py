#!/usr/bin/env python3
"""Checks that relative links and images in Markdown files point at files that exist. Arguments: files, or folders searched for *.md."""
import pathlib
import re
import sys

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def main() -> int:
    files = []
    for name in sys.argv[1:]:
        path = pathlib.Path(name)
        files += sorted(path.rglob("*.md")) if path.is_dir() else [path]
    bad = 0
    for file in files:
        text = re.sub(r"```.*?```", "", file.read_text(), flags=re.S)
        for target in LINK.findall(text):
            if re.match(r"[a-z]+:|#", target):
                continue
            if not (file.parent / target.split("#")[0]).exists():
                print(f"check_links: {file}: {target} does not exist", file=sys.stderr)
                bad += 1
    if not bad:
        print(f"check_links: {len(files)} files, all relative links lead somewhere")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
