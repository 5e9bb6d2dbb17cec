# hstar without PyTorch, from a wheel of dist/: `make wheel PYTHON=python3.12` writes it (docs/installing.md).
FROM python:3.12-slim
COPY dist/hstar-*-cp312-abi3-*.whl constraints.txt /tmp/
RUN pip install --no-cache-dir --constraint /tmp/constraints.txt /tmp/hstar-*.whl && rm /tmp/hstar-*.whl
WORKDIR /work
ENTRYPOINT ["hstar"]
