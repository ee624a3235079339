#!/usr/bin/env python3
"""Checks the dependency graph against deny.toml: licences, banned crates, sources.

In: `cargo metadata --locked` of this workspace and deny.toml. Out: one line when all is well, else one line for each
crate that is not allowed, and exit code 1. It is `cargo deny check licenses bans sources` for the lists we use, for machines where
cargo-deny cannot be installed quickly. It does not look at licence texts nor at advisories.
"""
import json
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent


def tokens(expression: str) -> list[str]:
    """An SPDX expression as tokens; `A WITH B` is one token; the old `A/B` means OR."""
    text = re.sub(r"\s*/\s*", " OR ", expression)
    text = re.sub(r"(\S+)\s+WITH\s+([^\s()]+)", lambda m: f"{m[1]}\0WITH\0{m[2]}", text)
    return [t.replace("\0", " ") for t in re.findall(r"[()]|[^\s()]+", text)]


def satisfied(expression: str, allowed: set[str]) -> bool:
    """Whether some choice among the ORs of `expression` uses allowed licences only. AND binds tighter than OR."""
    stream = tokens(expression)

    def disjunction() -> bool:
        value = conjunction()
        while stream and stream[0] == "OR":
            stream.pop(0)
            value = conjunction() or value
        return value

    def conjunction() -> bool:
        value = atom()
        while stream and stream[0] == "AND":
            stream.pop(0)
            value = atom() and value
        return value

    def atom() -> bool:
        token = stream.pop(0)
        if token == "(":
            value = disjunction()
            stream.pop(0)
            return value
        return token in allowed

    return disjunction()


def main() -> int:
    rules = tomllib.loads((ROOT / "deny.toml").read_text())
    allowed = set(rules["licenses"]["allow"])
    # Banned crate to those that may depend on it all the same.
    banned = {b["crate"]: set(b.get("wrappers", [])) for b in rules["bans"]["deny"]}
    registries = {"registry+" + url for url in rules["sources"]["allow-registry"]}
    raw = subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--locked", "--all-features"], cwd=ROOT, stdout=subprocess.PIPE, check=True
    ).stdout
    metadata = json.loads(raw)
    packages = metadata["packages"]
    names = {package["id"]: package["name"] for package in packages}
    parents: dict[str, set[str]] = {package["id"]: set() for package in packages}
    for node in metadata["resolve"]["nodes"]:
        for dependency in node["dependencies"]:
            parents[dependency].add(names[node["id"]])
    bad = []
    for package in packages:
        name = f"{package['name']} {package['version']}"
        source = package["source"]
        if package["name"] in banned and not parents[package["id"]] <= banned[package["name"]]:
            bad.append(f"{name}: banned by deny.toml, used by {', '.join(sorted(parents[package['id']]))}")
        if source is not None and source not in registries:
            bad.append(f"{name}: comes from {source}, which deny.toml does not list")
        if not package["license"]:
            bad.append(f"{name}: states no licence")
        elif not satisfied(package["license"], allowed):
            bad.append(f"{name}: licence {package['license']!r} is not allowed")
    for line in bad:
        print(f"check_licences: {line}", file=sys.stderr)
    if not bad:
        print(f"check_licences: {len(packages)} packages, licences, bans and sources as in deny.toml")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
