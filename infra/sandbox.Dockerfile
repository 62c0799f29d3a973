# What programs of a repository run in where there is no bubblewrap (docs/guide/operations.md#in-a-container):
# `docker build -f infra/sandbox.Dockerfile -t remora-sandbox .`. It needs sh, env, tar, xargs and the other programs of Debian's
# coreutils and util-linux, and what the repositories' tests need besides: add that here, since programs reach no network.
# An image without VOLUME: a volume could be written, and is on the disk.
ARG BASE=debian:bookworm-slim
ARG REMORA=remora

FROM ${REMORA} AS remora

FROM ${BASE}
RUN apt-get update -qq \
  && apt-get install -y -qq --no-install-recommends libstdc++6 python3 python3-pytest \
  && rm -rf /var/lib/apt/lists \
  && useradd --uid 59999 --no-create-home --home-dir /tmp/home --shell /bin/sh remora
# The Node of the worker.
COPY --from=remora /usr/local/bin/node /usr/local/bin/node
USER 59999:59999
