#!/bin/sh
# Installs the wheel of dist/ into an empty environment of the given Python and uses it there: without PyTorch,
# and with neither a compiler nor this clone on the path.
set -eu
python=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$python" -m venv "$folder/venv"
pip="$folder/venv/bin/python -m pip --disable-pip-version-check install --quiet --only-binary :all:"
$pip --no-index --no-deps --find-links dist hstar
$pip --constraint constraints.txt hstar # its dependencies
cd "$folder"
(
  PATH=$folder/venv/bin
  set -x
  hstar --version
  python -c 'import importlib.util as u; assert u.find_spec("torch") is None'
  hstar demo --blocks 8 --starts 3
  hstar train wl gripper -o gripper.hstar --iterations 1
  hstar example gripper --quiet
  hstar solve gripper/test/p01.pddl --heuristic gripper.hstar
  hstar train gripper/train -o own.hstar --iterations 1
  hstar compare gripper/train own.hstar ff --time-limit 5s
  hstar bench demo -o run --profile quick --dry-run
)
