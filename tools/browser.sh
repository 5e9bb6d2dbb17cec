#!/bin/sh
# A browser for the tests of the report page. Installs Debian's chromium if we may, else says how.
set -eu
for name in chromium chromium-browser google-chrome; do
  command -v "$name" >/dev/null 2>&1 && exit 0
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  apt-get update -qq || true  # an old list of packages may do
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium
else
  echo "hstar: no browser: tests of the page are skipped (apt-get install chromium)" >&2
fi
