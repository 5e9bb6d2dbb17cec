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
  hstar solve gripper/test/p01.pddl --heuristic gripper.hstar --plan-file plan.txt
  hstar train gripper/train -o own.hstar --iterations 1
  hstar compare gripper/train own.hstar ff --time-limit 5s
  hstar validate gripper/test/domain.pddl gripper/test/p01.pddl plan.txt
  hstar learn gripper/train/domain.pddl gripper/train -o known.hstar --budget 30s --quiet
  hstar plan known.hstar gripper/test/domain.pddl gripper/test/p02.pddl plan2.txt
  python -c 'import hstar; print(hstar.solve(hstar.load("gripper/test/p02.pddl"), "own.hstar"))'
  hstar example programs --quiet
  hstar check programs/own_space.py:Lights
  hstar solve programs/own_space.py:Lights --search astar
  hstar evaluate ff goalcount gripper/train/p01.pddl -o first --walks 2 --time-limit 5s --quiet
  hstar report first
  hstar bench demo -o run --profile quick --dry-run
)
