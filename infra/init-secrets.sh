#!/bin/sh
# Makes the secrets of infra/compose.yaml in a folder (default: infra/secrets), once: what is there is kept, but for the rights of the
# services in Redis, which this version knows better.
set -eu
folder=${1:-$(dirname "$0")/secrets}
mkdir -p "$folder"
# The folder is for its owner alone. Its files are mounted into containers whose user is another one.
chmod 700 "$folder"
random() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }
write() { printf '%s' "$2" >"$folder/$1"; chmod 644 "$folder/$1"; }
put() { [ -s "$folder/$1" ] || write "$@"; }
put token "$(random)"
put signing_key "$(random)"
# Each service has a user of its own in Redis, which gets all of them.
put redis_url_api "redis://remora-api:$(random)@redis:6379"
put redis_url_discovery "redis://remora-discovery:$(random)@redis:6379"
put redis_url_publisher "redis://remora-publisher:$(random)@redis:6379"
put redis_url_worker "redis://remora-worker:$(random)@redis:6379"
put redis_url_watcher "redis://remora-watcher:$(random)@redis:6379"
put redis_url_conductor "redis://remora-conductor:$(random)@redis:6379"
users() {
  echo 'user default off'
  for service in api discovery publisher worker conductor watcher; do
    password=$(sed 's/.*:\(.*\)@.*/\1/' "$folder/redis_url_$service")
    sed -n "s/>PASSWORD_$service />$password /p" "$(dirname "$0")/redis-users.acl"
  done
}
write redis_users "$(users)
"
put s3_access_key remora
put s3_secret_key "$(random)"
put model_api_key '' # write the key of your models to it
put publisher_secret "$(random)"
put github_private_key '' # and these are what `remora github setup` has written
put github_webhook_secret ''
echo "$folder"
