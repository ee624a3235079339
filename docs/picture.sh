#!/usr/bin/env bash
# Draws the README's picture anew from a real run: bash docs/picture.sh PATH_TO_BACKEDGE
set -euo pipefail
cd "$(dirname "$0")/.."
backedge=${1:?usage: docs/picture.sh PATH_TO_BACKEDGE}
program=bench-programs/programs/indirect_call/indirect_call.wasm
mkdir -p docs/src/images
"$backedge" run --report "$program" 2>&1 | python3 docs/picture.py "backedge run --report $program" >docs/src/images/report.svg
