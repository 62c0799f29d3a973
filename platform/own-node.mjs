// Plain JavaScript, because an older Node may start it: it then runs the same file again on the Node 24 that comes with
// the package. Signals go through, and the inner process ends with this one (its IPC channel closes).
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { constants } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { becomeLean, leanMemory } from './lean-memory.mjs'

const leastMajor = 24
const advice = `the package's own Node ${leastMajor} is not installed: run "npm ci" in a clone, or install again with install scripts (of the package "node").`
/** Marks the environment of a process that was started by one that took it for a Node that is new enough. */
const mark = 'STARTED_ON_OWN_NODE'

/**
 * Is true when this Node can run our sources, once replaced by a process with lean memory. Else the program `self` runs on one
 * that can, and this process waits for it, or has ended with a line that says what is missing.
 *
 * @param {string} self
 * @param {readonly string[]} flags of V8, where it is on Linux
 */
export function runsOnOwnNode(self, flags = []) {
  const wasStartedOnOwn = process.env[mark] !== undefined
  delete process.env[mark]
  if (Number.parseInt(process.versions.node, 10) >= leastMajor) {
    becomeLean(self, flags)
    keepCompiledCode(process.env)
    return true
  }
  if (wasStartedOnOwn) endWith(`${process.execPath} is Node ${process.versions.node}: ${advice}`)
  runOn(ownNode(dirname(self)), self)
  return false
}

/**
 * Keeps compiled code in the user's cache: Node's own place is a folder in each TMPDIR, which nobody removes.
 *
 * @param {Record<string, string | undefined>} env
 */
function keepCompiledCode(env) {
  const caches = [env['XDG_CACHE_HOME'] ?? '', join(env['HOME'] ?? '', '.cache')]
  const cache = caches.find((folder) => isAbsolute(folder))
  const kept = cache && isFolder(cache) ? join(cache, 'remora', 'node-compile-cache') : undefined
  const isKept = kept !== undefined && isFolder(dirname(kept)) && isFolder(kept)
  // Else there is no such folder, such as in a container without a home that may be written.
  const result = nodeModule.enableCompileCache?.(isKept ? kept : undefined)
  if (isKept && result?.status === nodeModule.constants.compileCacheStatus.FAILED) nodeModule.enableCompileCache()
  // For the programs that this one starts. In the folder is one for each version of Node and set of its flags.
  const own = nodeModule.getCompileCacheDir?.()
  if (own !== undefined) env['NODE_COMPILE_CACHE'] = dirname(own)
}

/**
 * Is true when it is there, or could be made: Node's `recursive` tries for ever in /proc.
 *
 * @param {string} folder
 * @returns {boolean}
 */
function isFolder(folder) {
  try {
    if (!existsSync(folder)) mkdirSync(folder)
    return true
  } catch {
    return existsSync(folder) // another process has made it
  }
}

/**
 * Returns the `node` of the nearest `node_modules/.bin` above `folder`; ends the process when there is none.
 *
 * @param {string} folder
 * @returns {string}
 */
function ownNode(folder) {
  const path = join(folder, 'node_modules', '.bin', process.platform === 'win32' ? 'node.cmd' : 'node')
  if (existsSync(path)) return path
  if (dirname(folder) !== folder) return ownNode(dirname(folder))
  return endWith(`Node ${process.versions.node} is too old: ${advice}`)
}

/**
 * @param {string} message
 * @returns {never}
 */
function endWith(message) {
  process.stderr.write(`remora: CONFIG_006 ${message}\n`)
  process.exit(1)
}

/**
 * @param {string} node
 * @param {string} self
 */
function runOn(node, self) {
  const child = spawn(node, [self, ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...leanMemory, ...process.env, [mark]: '1' },
  })
  child.send({ parent: process.ppid }) // see cli/interrupt.ts
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']))
    process.on(signal, () => child.kill(signal))
  child.on('error', (error) => {
    endWith(`${node} cannot be started: ${error.message}`)
  })
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal ?? 'SIGKILL']))
}
