"""Fills RESULTS.md from runs: python tools/results.py [FILE].

A block of the file is what a command prints, one of hstar or a script of its own:

    <!-- hstar report runs/preimage --format markdown -->
    ...
    <!-- end -->

    <!-- python benchmarks/network.py --print runs/network.jsonl --table rates -->
    ...
    <!-- end -->

Each command is run in the current folder (by `make results` the project's root) with this interpreter, and
its output put between the two lines; headings go down one level. A block whose run or file of measurements is
not on this machine stays as it is, and is named. Nothing is written unless every command succeeds.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

_START = re.compile(r"^<!-- ((?:hstar|python) [^\n]*) -->\n", re.MULTILINE)
_BLOCK = re.compile(_START.pattern + r"(.*?)^<!-- end -->$", re.DOTALL | re.MULTILINE)


def main(file: Path) -> int:
    """The exit code."""
    text, old = "", file.read_text()
    position = filled = 0
    for block in _BLOCK.finditer(old):
        if _START.search(block[2]):
            print(f"{block[1]}: no end before the next block; {file} is unchanged", file=sys.stderr)
            return 1
        text += old[position : block.start(2)]
        position = block.start(2)
        program, *words = shlex.split(block[1])
        missing = [word for word in words if word.startswith("runs/") and not Path(word).exists()]
        if missing:
            print(f"{block[1]}: left as it is, there is no {missing[0]}", file=sys.stderr)
            continue
        command = [sys.executable, *(["-m", program] if program == "hstar" else []), *words]
        done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            print(f"{block[1]}: failed; {file} is unchanged", file=sys.stderr)
            return done.returncode
        text += "\n" + re.sub(r"^#", "##", done.stdout.strip(), flags=re.MULTILINE) + "\n\n"
        position = block.end(2)
        filled += 1
    file.write_text(text + old[position:])
    print(f"{file}: {filled} blocks filled", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else "RESULTS.md")))
