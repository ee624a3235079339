#!/usr/bin/env bash
# Draws the pictures of README and book anew from real runs: bash docs/picture.sh PATH_TO_BACKEDGE [RESULTS.json of `backedge bench`]
# The live view needs tmux; the page needs python3 with playwright, and Chromium. What is missing is said, and its picture stays as it is.
set -euo pipefail
cd "$(dirname "$0")/.."
backedge=$(realpath "${1:?usage: docs/picture.sh PATH_TO_BACKEDGE}")
images=docs/src/images
program=bench-programs/programs/indirect_call/indirect_call.wasm
mkdir -p "$images"
# Seconds of it, so that the cost of watching is one of running rather than of starting.
# By a file: python's start beside it takes a processor, and the monitor would miss records.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$backedge" run --report "$program" 0 4000000000 >"$scratch/report.txt" 2>&1
python3 docs/picture.py "backedge run --report $program 0 4000000000" <"$scratch/report.txt" >"$images/report.svg"

program=bench-programs/programs/gather/gather.wasm

if command -v tmux >/dev/null; then
    # Rounds enough to be there still when the picture is taken, soon enough for trials to be the news.
    live=bench-programs/programs/sort/sort.wasm
    tmux -L "picture-$$" new-session -d -x 80 -y 24 "$backedge top --stay $live --time 0 200000 300; sleep 1"
    sleep 1
    tmux -L "picture-$$" capture-pane -p >"$scratch/top.txt"
    tmux -L "picture-$$" send-keys q
    sleep 2
    tmux -L "picture-$$" kill-server 2>/dev/null || true
    python3 docs/picture.py "backedge top $live --time 0 200000 300" <"$scratch/top.txt" >"$images/top.svg"
else
    echo "no tmux: $images/top.svg stays" >&2
fi

if python3 -c 'import playwright' 2>/dev/null; then
    # A relative name: the command line stands on the page.
    cp "$program" "$scratch/gather.wasm"
    (cd "$scratch" && PATH="$(dirname "$backedge"):$PATH" backedge run --report=html=report.html gather.wasm >/dev/null)
    python3 docs/screenshot.py "$scratch/report.html" "$images/report-html.png" 1280 1080 light
    python3 docs/screenshot.py "$scratch/report.html" "$images/report-html-trials.png" 1280 640 dark '#trials'
    python3 docs/screenshot.py "$scratch/report.html" "$images/report-html-narrow.png" 400 860 dark
    if [ -n "${2:-}" ]; then
        "$backedge" bench-report --html "$scratch/bench.html" "$2"
        python3 docs/screenshot.py "$scratch/bench.html" "$images/bench-html.png" 1280 1080 light
    fi
else
    echo "no playwright: the pictures of the page stay" >&2
fi
