#!/bin/sh
# Makes the secrets of infra/compose.yaml in a folder (default: infra/secrets), once: what is there is kept.
set -eu
folder=${1:-$(dirname "$0")/secrets}
mkdir -p "$folder"
# The folder is for its owner alone. Its files are mounted into containers whose user is another one.
chmod 700 "$folder"
random() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }
put() { [ -s "$folder/$1" ] || { printf '%s' "$2" >"$folder/$1"; chmod 644 "$folder/$1"; }; }
put token "$(random)"
put redis_password "$(random)"
put redis_url "redis://:$(cat "$folder/redis_password")@redis:6379"
put s3_access_key remora
put s3_secret_key "$(random)"
put model_api_key '' # write the key of your models to it
put publisher_secret "$(random)"
put github_private_key '' # and these are what `remora github setup` has written
put github_webhook_secret ''
echo "$folder"
