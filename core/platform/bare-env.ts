import type { Env } from './env.ts'

/** What programs of the system, package managers and compilers need to find their way, and nothing they do not. */
const passedOn = [
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|TERM|TZ|TMPDIR|LANG|LANGUAGE|LC_\w+|XDG_\w+_HOME|XDG_RUNTIME_DIR|LD_LIBRARY_PATH|CC)$/,
  /^(?:https?|ftp|all|no)_proxy$/i,
  /^(?:SSL_CERT_FILE|SSL_CERT_DIR|CURL_CA_BUNDLE|NODE_EXTRA_CA_CERTS)$/,
  /^(?:DEBIAN_FRONTEND|NEEDRESTART_SUSPEND|HOMEBREW_\w+_(?:DOMAIN|REMOTE))$/,
  /^DOCKER_(?:HOST|CONTEXT|CONFIG|CERT_PATH|TLS_VERIFY)$/,
]

/** The part of `env` that programs which are not ours are given: no token, key or password of Remora's is in it. */
export function bareEnv(env: Env): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => passedOn.some((names) => names.test(name))))
}
