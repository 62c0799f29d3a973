// Plain JavaScript, because an older Node may start it: it then runs the same file again on the Node 24 that comes with
// the package. Signals go through, and the inner process ends with this one (its IPC channel closes).
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'

const leastMajor = 24
const leanMemory = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_TRIM_THRESHOLD_: '131072' }

/**
 * Whether this Node can run our sources. When it cannot, the program `self` has been started again on one that can, and
 * this process only waits for it; or it has ended with one line that says what is missing.
 *
 * @param {string} self
 */
export function runsOnOwnNode(self) {
  if (Number.parseInt(process.versions.node, 10) >= leastMajor) {
    becomeLean(self)
    nodeModule.enableCompileCache?.()
    return true
  }
  runOn(ownNode(dirname(self)), self)
  return false
}

/**
 * glibc keeps what each thread has freed for that thread alone: half of what a process holds after a large archive. Said
 * before a process starts, this is given back, so the process is replaced by itself once. `core/platform/lean-memory.ts`
 * says the same to children.
 *
 * @param {string} self
 */
function becomeLean(self) {
  const isChild = process.send !== undefined // its parent has said it, and its channel would not outlive this
  if (process.platform !== 'linux' || isChild || process.env['MALLOC_ARENA_MAX'] !== undefined) return
  const args = [process.execPath, ...process.execArgv, self, ...process.argv.slice(2)]
  process.execve?.(process.execPath, args, { ...process.env, ...leanMemory })
}

/**
 * The `node` of the nearest `node_modules/.bin` above `folder`; ends the process when there is none.
 *
 * @param {string} folder
 * @returns {string}
 */
function ownNode(folder) {
  const path = join(folder, 'node_modules', '.bin', process.platform === 'win32' ? 'node.cmd' : 'node')
  if (existsSync(path)) return path
  if (dirname(folder) !== folder) return ownNode(dirname(folder))
  process.stderr.write(
    `remora: CONFIG_006 Node ${process.versions.node} is too old and the package's own Node ${leastMajor} is not installed: run "npm ci".\n`,
  )
  return process.exit(1)
}

/**
 * @param {string} node
 * @param {string} self
 */
function runOn(node, self) {
  const child = spawn(node, [self, ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...leanMemory, ...process.env },
  })
  child.send({ parent: process.ppid }) // see cli/interrupt.ts
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => {
    process.stderr.write(`remora: CONFIG_006 ${node} cannot be started: ${error.message}\n`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal ?? 'SIGKILL']))
}
