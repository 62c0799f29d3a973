// Plain JavaScript, because an older Node may start it: it then runs the same file again on a Node 24 of its own, which a clone
// has and which the npm package gets once. Signals go through, and the inner process ends with this one (its IPC channel closes).
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { constants } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { becomeLean, lastingFlags, leanMemory } from './lean-memory.mjs'

const leastMajor = 24
const advice = `start it on Node ${leastMajor}, or give it one: "npm ci" in a clone, else "npm install node@${leastMajor}" beside it.`
/** Marks the environment of a process that was started by one that took it for a Node that is new enough. */
const mark = 'STARTED_ON_OWN_NODE'

/**
 * Is true when this Node can run our sources, once replaced by a process with lean memory, unless what it does is brief. Else the
 * program `self` runs on one that can, and this process waits for it, or has ended with a line that says what is missing.
 *
 * @param {string} self
 * @param {{ isBrief?: boolean }} options
 */
export function runsOnOwnNode(self, { isBrief = false } = {}) {
  const wasStartedOnOwn = process.env[mark] !== undefined
  delete process.env[mark]
  if (Number.parseInt(process.versions.node, 10) >= leastMajor) {
    if (!isBrief) becomeLean(self)
    keepCompiledCode(process.env)
    return true
  }
  if (wasStartedOnOwn) endWith(`${process.execPath} is Node ${process.versions.node}: ${advice}`)
  runOn(ownNode(dirname(self)), isBrief ? [self] : [...lastingFlags, self])
  return false
}

/**
 * Keeps compiled code in the user's cache: Node's own place is a folder in each TMPDIR, which nobody removes.
 *
 * @param {Record<string, string | undefined>} env
 */
function keepCompiledCode(env) {
  const cache = cacheOf(env)
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
 * @param {Record<string, string | undefined>} env
 * @returns {string | undefined}
 */
function cacheOf(env) {
  return [env['XDG_CACHE_HOME'] ?? '', join(env['HOME'] ?? '', '.cache')].find((folder) => isAbsolute(folder))
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
 * Returns the `node` of the nearest `node_modules/.bin` above `folder`, else the one in the user's cache, which npm puts there the
 * first time; ends the process when there is none.
 *
 * @param {string} folder
 * @returns {string}
 */
function ownNode(folder) {
  const path = nodeIn(folder)
  if (existsSync(path)) return path
  if (dirname(folder) !== folder) return ownNode(dirname(folder))
  return obtainedNode() ?? endWith(`Node ${process.versions.node} is too old: ${advice}`)
}

/**
 * @param {string} folder
 * @returns {string}
 */
function nodeIn(folder) {
  return join(folder, 'node_modules', '.bin', process.platform === 'win32' ? 'node.cmd' : 'node')
}

/** What npm finds its settings, a proxy and programs by. */
const npmNeeds =
  /^(?:PATH|HOME|TMPDIR|TEMP|TMP|USERPROFILE|APPDATA|LOCALAPPDATA|SystemRoot|ComSpec|PATHEXT|NODE_EXTRA_CA_CERTS|SSL_CERT_(?:FILE|DIR)|(?:https?|no)_proxy|npm_config_.*)$/i

/**
 * Two that get it at once each make a folder of their own, and the first to rename its own wins.
 *
 * @returns {string | undefined}
 */
function obtainedNode() {
  const cache = cacheOf(process.env)
  if (cache === undefined) return undefined
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  const wanted = `node@${manifest.devDependencies.node}`
  const folder = join(cache, 'remora', wanted)
  if (existsSync(nodeIn(folder))) return nodeIn(folder)
  process.stderr.write(
    `remora: Node ${process.versions.node} is too old: getting ${wanted} with npm, once, into ${folder}\n`,
  )
  try {
    mkdirSync(dirname(folder), { recursive: true })
    const fresh = mkdtempSync(`${folder}-`)
    // Newer npm runs only the install scripts that are allowed by name: that of `node` brings the program.
    writeFileSync(join(fresh, 'package.json'), '{ "private": true, "allowScripts": { "node": true } }')
    const shell = process.platform === 'win32' // npm is a script there
    spawnSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', wanted], {
      cwd: fresh,
      env: Object.fromEntries(Object.entries(process.env).filter(([name]) => npmNeeds.test(name))),
      shell,
      stdio: ['ignore', 'ignore', 2],
    })
    if (existsSync(nodeIn(fresh)) && !existsSync(folder)) renameSync(fresh, folder)
    rmSync(fresh, { recursive: true, force: true })
  } catch {
    // Such as in a home that cannot be written.
  }
  return existsSync(nodeIn(folder)) ? nodeIn(folder) : undefined
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
 * @param {readonly string[]} program its path, behind flags of V8
 */
function runOn(node, program) {
  const child = spawn(node, [...program, ...process.argv.slice(2)], {
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
