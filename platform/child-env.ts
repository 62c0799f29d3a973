import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import type { Env } from './env.ts'
import { leanMemory } from './lean-memory.mjs'

/*
 * Every child process gets one of these environments, or one that its caller spells out; tests/house/child-environments.test.ts refuses
 * a child that would inherit ours, in which there are tokens, keys and passwords. What is not listed here is not passed on.
 */

/** These say how a program and its libraries are found, and how it writes. */
const ofEach = [/^(?:PATH|LD_LIBRARY_PATH|TMPDIR|TZ|LANG|LANGUAGE|LC_\w+)$/]

/** Programs of the system, package managers, compilers and container engines need these. */
const ofPrograms = [
  ...ofEach,
  /^(?:HOME|USER|LOGNAME|SHELL|TERM|XDG_\w+_HOME|XDG_RUNTIME_DIR|CC)$/,
  /^(?:https?|ftp|all|no)_proxy$/i,
  /^(?:SSL_CERT_FILE|SSL_CERT_DIR|CURL_CA_BUNDLE|NODE_EXTRA_CA_CERTS)$/,
  /^(?:DEBIAN_FRONTEND|NEEDRESTART_SUSPEND|HOMEBREW_\w+_(?:DOMAIN|REMOTE))$/,
  /^DOCKER_(?:HOST|CONTEXT|CONFIG|CERT_PATH|TLS_VERIFY)$/,
  /^CONTAINER(?:_HOST|_CONNECTION|S_CONF|S_STORAGE_CONF)$/,
]

/** Git finds by these who the user is, their keys and passwords. */
const ofGit = [
  ...ofPrograms,
  /^GIT_\w+$/,
  /^(?:SSH_(?:AUTH_SOCK|AGENT_PID|ASKPASS|ASKPASS_REQUIRE)|GPG_TTY|GNUPGHOME|KRB5CCNAME|DBUS_SESSION_BUS_ADDRESS)$/,
  /^(?:EMAIL|EDITOR|VISUAL|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|GH_\w+|GITHUB_TOKEN|GCM_\w+)$/,
]

/** Inside a hook or an alias of git these name its repository, not the one that git is to work in; the times are those of another commit. */
const ofAnotherRepository =
  /^GIT_(?:DIR|WORK_TREE|INDEX_FILE|PREFIX|COMMON_DIR|NAMESPACE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|AUTHOR_DATE|COMMITTER_DATE)$/

/** Remora itself reads these: its settings, the passwords of its stores and the key of its models. */
const ofRemora = /^(?:REMORA_\w+|AWS_\w+|OPENAI_API_KEY|NODE_OPTIONS)$/

const ofPagers = [...ofPrograms, /^(?:LESS\w*|MORE|LV|BAT_\w+|TERMINFO\w*|COLORTERM|LINES|COLUMNS)$/]

export function leastEnv(env: Env): Env {
  return chosenFrom(env, ofEach)
}

export function bareEnv(env: Env): Env {
  return chosenFrom(env, ofPrograms)
}

export function gitEnv(env: Env): Env {
  return without(ofAnotherRepository, chosenFrom(env, ofGit))
}

/** Returns what git gets where it runs the hooks of the user's own checkout: all that these have without us, but what is Remora's. */
export function hooksEnv(env: Env): Env {
  return without(ofRemora, without(ofAnotherRepository, env))
}

export function pagerEnv(env: Env): Env {
  return chosenFrom(env, ofPagers)
}

/** Returns the environment of a child that is our own code: how its memory is kept small, and where compiled code is kept. */
export function ownChildEnv(): Env {
  const cache = getCompileCacheDir() // a folder for each Node
  return { ...leanMemory, ...(cache !== undefined && { NODE_COMPILE_CACHE: dirname(cache) }) }
}

function without(names: RegExp, env: Env): Env {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.test(name)))
}

function chosenFrom(env: Env, names: readonly RegExp[]): Env {
  return Object.fromEntries(Object.entries(env).filter(([name]) => names.some((pattern) => pattern.test(name))))
}
