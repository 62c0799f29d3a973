#!/bin/bash
# Applies the manifests to a real API server where no cluster is at hand: `infra/k8s/try-apply.sh [FOLDER]`. Builds etcd and
# kube-apiserver from their Go modules (the first time half an hour of one core; FOLDER keeps them), starts them on this machine, and
# applies the definitions of KEDA and of Prometheus' operator, then infra/k8s/keda as docs/guide/deploy.md does. Fails on any warning,
# on a pod that pod security `restricted` refuses, and when a second look finds something to change. Nothing runs in this cluster.
# Needs go (1.26), kubectl and openssl.
set -euo pipefail
umask 077
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
kubernetes=${KUBERNETES:-1.36.3} keda=${KEDA:-2.21.0} operator=${PROMETHEUS_OPERATOR:-0.85.0} etcd=${ETCD:-3.6.8}
work=$(mkdir -p "${1:-/tmp/remora-try-apply}" && cd "${1:-/tmp/remora-try-apply}" && pwd)
port=${PORT:-16443}
manifests=$PWD/infra/k8s

download() { (cd "$work" && go mod download -json "$1" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p'); }

# One folder for each pair of versions.
bin=$work/kubernetes-$kubernetes-etcd-$etcd
mkdir -p "$bin"
if ! [ -x "$bin/kube-apiserver" ] || ! [ -x "$bin/etcd" ]; then
  # The modules of Kubernetes name one another by folders of their repository, which a module does not have.
  own=$(cd / && go list -m -f '{{.GoMod}}' "k8s.io/kubernetes@v$kubernetes")
  {
    printf 'module try\ngo 1.26.0\nrequire k8s.io/kubernetes v%s\nrequire go.etcd.io/etcd/server/v3 v%s\n' "$kubernetes" "$etcd"
    sed -n "s#^\s*\(k8s.io/[a-z0-9-]*\) => ./staging/.*#replace \1 => \1 v0.${kubernetes#*.}#p" "$own"
  } >"$work/go.mod"
  (
    cd "$work"
    export GOFLAGS=-mod=mod
    go build -o "$bin/kube-apiserver" k8s.io/kubernetes/cmd/kube-apiserver
    go build -o "$bin/etcd" go.etcd.io/etcd/server/v3
  )
fi

started=()
# The API server first: without its etcd it would not end.
end() {
  for pid in "${started[@]}"; do
    kill "$pid" 2>/dev/null || true
    wait "$pid" || true
  done
  rm -rf "$work/run"
}
trap end EXIT
rm -rf "$work/run"
mkdir -p "$work/run/etcd"
openssl genrsa -out "$work/run/accounts.key" 2048 2>/dev/null
token=$(openssl rand -hex 16)
echo "$token,admin,1,system:masters" >"$work/run/tokens.csv"
store=http://127.0.0.1:$((port + 1)) peers=http://127.0.0.1:$((port + 2))
"$bin/etcd" --data-dir "$work/run/etcd" --listen-client-urls "$store" --advertise-client-urls "$store" \
  --listen-peer-urls "$peers" --initial-advertise-peer-urls "$peers" --initial-cluster "default=$peers" 2>"$work/etcd.log" &
started=($!)
"$bin/kube-apiserver" --etcd-servers "$store" --bind-address 127.0.0.1 --secure-port "$port" --cert-dir "$work/run" \
  --token-auth-file "$work/run/tokens.csv" --authorization-mode RBAC --service-cluster-ip-range 10.96.0.0/16 \
  --service-account-issuer https://kubernetes.default.svc --service-account-key-file "$work/run/accounts.key" \
  --service-account-signing-key-file "$work/run/accounts.key" 2>"$work/apiserver.log" &
started=($! "${started[@]}")
kube() { kubectl --server "https://127.0.0.1:$port" --token "$token" --insecure-skip-tls-verify --kubeconfig /dev/null "$@"; }
for _ in $(seq 120); do
  kube get --raw /readyz >/dev/null 2>&1 && break
  sleep 1
done
kube get --raw /readyz >/dev/null || { echo "the API server is not ready: see $work/apiserver.log" >&2; exit 1; }

definitions=(
  "$(download "github.com/kedacore/keda/v2@v$keda")/config/crd/bases/keda.sh_scaledobjects.yaml"
  "$(download "github.com/prometheus-operator/prometheus-operator@v$operator")/example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml"
)
for file in "${definitions[@]}"; do kube apply --server-side -f "$file"; done
kube wait --for condition=Established crd/scaledobjects.keda.sh crd/servicemonitors.monitoring.coreos.com

kube apply -f "$manifests/base/namespace.yaml" --warnings-as-errors
# Says of a Deployment what would be refused of its pods.
kube label namespace remora pod-security.kubernetes.io/warn=restricted
kube apply -k "$manifests/keda" --warnings-as-errors
kube diff -k "$manifests/keda" # ends with 1 when something is still to change
kube -n remora get deployments,poddisruptionbudgets,networkpolicies,scaledobjects,servicemonitors
echo "Kubernetes $kubernetes takes the manifests"
