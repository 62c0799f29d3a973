#!/bin/bash
# Builds the images of infra/compose.yaml, and that of the sandbox, where no image can be pulled: from a Debian root file
# system (debootstrap), this machine's Node with npm and its certificates for the build alone, Debian's Redis, and an S3
# gateway by Go. Needs Docker, debootstrap, node, npm and go, and root for debootstrap. Prints the size of each image.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
certificates=${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}

have() { docker image inspect "$1" >/dev/null 2>&1; }

if ! have remora-base:local; then
  debootstrap --variant=minbase --include=ca-certificates,libstdc++6 "${SUITE:-bookworm}" "$work/base" >/dev/null
  # The last two are this machine's.
  (cd "$work/base" && rm -rf var/cache/apt var/lib/apt/lists usr/share/{doc,man,locale,info} etc/{resolv.conf,hostname})
  tar -C "$work/base" -c . | docker import - remora-base:local >/dev/null
fi

# With npm, which the build needs and the image does not have.
if ! have remora-build-base:local; then
  mkdir "$work/build"
  cp "$(readlink -f "$(command -v node)")" "$work/build/node"
  cp -rL "$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")" "$work/build/npm"
  cp -L "$certificates" "$work/build/certificates.crt"
  docker build -q -t remora-build-base:local -f - "$work/build" >/dev/null <<'DOCKERFILE'
FROM remora-base:local
COPY node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
COPY certificates.crt /etc/ssl/certs/ca-certificates.crt
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt npm_config_cafile=/etc/ssl/certs/ca-certificates.crt
DOCKERFILE
fi

if ! have remora-redis:local; then
  docker build -q --network host -t remora-redis:local -f - "$work" >/dev/null <<'DOCKERFILE'
FROM remora-base:local
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends redis-server && rm -rf /var/lib/apt/lists
DOCKERFILE
fi

if ! have remora-s3:local; then
  mkdir "$work/s3"
  CGO_ENABLED=0 GOBIN="$work/s3" go install github.com/versity/versitygw/cmd/versitygw@v1.8.0
  docker build -q --network host -t remora-s3:local -f - "$work/s3" >/dev/null <<'DOCKERFILE'
FROM remora-base:local
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends wget && rm -rf /var/lib/apt/lists
COPY versitygw /app/versitygw
DOCKERFILE
fi

docker build --network host -f infra/Dockerfile -t "${REMORA_IMAGE:-remora}" \
  --build-arg BASE=remora-base:local --build-arg BUILD_BASE=remora-build-base:local \
  --build-arg REVISION="$(git rev-parse HEAD 2>/dev/null || echo unknown)" .

# What programs of a repository run in where there is no bubblewrap; the Node in it is that of the image above.
docker build -q --network host -f infra/sandbox.Dockerfile -t "${REMORA_SANDBOX_IMAGE:-remora-sandbox}" \
  --build-arg BASE=remora-base:local --build-arg REMORA="${REMORA_IMAGE:-remora}" infra
docker images --format '{{.Repository}}:{{.Tag}} {{.Size}}' | grep -E '^remora'
