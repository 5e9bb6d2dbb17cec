# hstar from a wheel of dist/, which `make wheel PYTHON=python3.12` writes (docs/installing.md).
FROM python:3.12-slim
# Extras of hstar, for instance `--build-arg EXTRAS=train,serve`.
ARG EXTRAS=serve
COPY dist constraints.txt /tmp/hstar/
RUN pip install --no-cache-dir --no-deps --no-index --find-links /tmp/hstar --only-binary :all: hstar && \
    pip install --no-cache-dir --constraint /tmp/hstar/constraints.txt "hstar[$EXTRAS]" && \
    rm -r /tmp/hstar
WORKDIR /work
# Caches go to the folder that is mounted there, whoever runs hstar.
ENV HOME=/work
ENTRYPOINT ["hstar"]
