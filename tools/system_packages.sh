#!/bin/sh
# A fresh Debian has Python without its venv module and headers. Installs them if we may, else says how. At a
# terminal it asks first; CI and scripts have nobody to ask.
set -eu
python=$1
missing=$("$python" - <<'EOF'
import importlib.util, os, sysconfig

missing = []
if importlib.util.find_spec("ensurepip") is None:
    missing.append("python3-venv")
if not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
    missing.append("python3-dev")
print(*missing)
EOF
)
command -v g++ >/dev/null 2>&1 || missing="$missing g++"
missing=${missing# }
[ -n "$missing" ] || exit 0
answer=yes
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
  answer=no
elif [ -t 0 ] && [ -z "${CI:-}" ]; then
  printf 'hstar needs %s. Run apt-get install? [y/N] ' "$missing" >&2
  read -r answer || answer=no
fi
case $answer in
  [yY]*) apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $missing ;;
  *)
    echo "hstar: please install first: apt-get install $missing" >&2
    exit 1
    ;;
esac
