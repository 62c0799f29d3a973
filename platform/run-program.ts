import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, constants, open, readFile, stat } from 'node:fs/promises'
import { Writable } from 'node:stream'
import { delimiter, isAbsolute, join } from 'node:path'
import { delay, msSince, withinLimit } from './clock.ts'
import { bareEnv } from './child-env.ts'
import type { Env } from './env.ts'

/** Says how a short-lived program ended. `out` and `err` are the last 8,000 characters it wrote. */
export type ProgramEnd =
  | { kind: 'ended'; code: number | null; out: string; err: string }
  | { kind: 'absent'; reason: string }
  | { kind: 'late'; out: string; err: string }

const keptChars = 8_000
const killMs = 2_000

/** The program gets the bare part of `env`, and reads `input` from its descriptor `wrapperInput`. */
export type Running = { limitMs: number; signal: AbortSignal; env: Env; input?: Uint8Array | undefined }

/** A command that starts the rest of its arguments as a process of little rights, and what it reads for that from `wrapperInput`. */
export type Wrapper = { command: readonly string[]; input?: Uint8Array | undefined }

export const wrapperInput = 3

export function giveInput(child: ChildProcess, input: Uint8Array | undefined): void {
  const pipe = child.stdio.at(wrapperInput)
  if (pipe instanceof Writable) pipe.on('error', () => {}).end(input) // it has ended, and says why
}

export type Command = readonly [string, ...string[]]

/** Ends the program's group after `limitMs` (`late`) or on `signal` (throws its reason). `absent`: it does not start. */
export async function runProgram(
  [program, ...args]: Command,
  { limitMs, signal, env, input }: Running,
): Promise<ProgramEnd> {
  signal.throwIfAborted()
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe', input === undefined ? 'ignore' : 'pipe'],
    detached: true,
    env: bareEnv(env),
  })
  giveInput(child, input)
  const printed = { out: '', err: '' }
  child.stdout
    ?.setEncoding('utf8')
    .on('data', (text: string) => (printed.out = `${printed.out}${text}`.slice(-keptChars)))
  child.stderr
    ?.setEncoding('utf8')
    .on('data', (text: string) => (printed.err = `${printed.err}${text}`.slice(-keptChars)))
  const ending = endOf(child, async () => printed)
  try {
    return await withinLimit(ending, { limitMs, signal, late: () => ({ kind: 'late', ...printed }) })
  } finally {
    await endGroup(child)
  }
}

/**
 * Runs a program that must not be stopped halfway: after `limitMs` (`late`) or an abort (throws its reason) it continues by
 * itself, also after this process. Its output goes to the file `logPath`. `absent`: it cannot be started, or has no log.
 */
export async function runUnharmed(
  [program, ...args]: Command,
  { logPath, env, limitMs, signal }: Running & { logPath: string },
): Promise<ProgramEnd> {
  signal.throwIfAborted()
  const log = await open(logPath, 'w').catch((error: Error) => error)
  if (log instanceof Error) return { kind: 'absent', reason: `its log cannot be written: ${log.message}` }
  const child = spawn(program, args, { stdio: ['ignore', log.fd, log.fd], detached: true, env: bareEnv(env) })
  const printed = async () => ({ out: await readFile(logPath, 'utf8').catch(() => ''), err: '' })
  try {
    const late = (): ProgramEnd => ({ kind: 'late', out: '', err: '' })
    return await withinLimit(endOf(child, printed), { limitMs, signal, late })
  } finally {
    child.unref()
    await log.close()
  }
}

function endOf(child: ChildProcess, printed: () => Promise<{ out: string; err: string }>): Promise<ProgramEnd> {
  return once(child, 'close').then(
    async ([code]: unknown[]): Promise<ProgramEnd> => ({
      kind: 'ended',
      code: typeof code === 'number' ? code : null,
      ...(await printed()),
    }),
    (error: Error): ProgramEnd => ({ kind: 'absent', reason: error.message }),
  )
}

/** Ends also what the program left running. Waits `killMs` for each signal: this user may not kill the processes of another (sudo). */
async function endGroup({ pid }: ChildProcess): Promise<void> {
  if (pid === undefined) return
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    const start = performance.now()
    for (let left = killGroup(pid, signal); left && msSince(start) < killMs; left = killGroup(pid, 0)) await delay(20)
  }
}

export function killGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

export function isSuccess(end: ProgramEnd): end is Extract<ProgramEnd, { kind: 'ended' }> {
  return end.kind === 'ended' && end.code === 0
}

export function failureOf(end: ProgramEnd): string {
  if (end.kind === 'absent') return end.reason
  if (end.kind === 'late') return 'it took too long'
  return lastLineOf(end.err) || lastLineOf(end.out) || `exit code ${end.code}`
}

export function lastLineOf(text: string): string {
  return text.trimEnd().split('\n').at(-1)?.trim().slice(-300) ?? ''
}

/** Finds an executable. Folders relative to the working folder do not count: their content came with somebody's repository. */
export async function findProgram(name: string, searchPath: string): Promise<string | undefined> {
  for (const folder of searchPath.split(delimiter).filter((entry) => isAbsolute(entry))) {
    const path = join(folder, name)
    if (await isExecutable(path)) return path
  }
  return undefined
}

async function isExecutable(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined)
  if (stats?.isFile() !== true) return false
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}

const transports = ['ssh', 'git', 'http', 'https', 'file', 'ext']

/** Keeps git from starting programs or fetching objects that the settings of somebody else's repository name. */
export const gitSettings: readonly string[] = [
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'core.sshCommand=false',
  'core.gitProxy=false',
  'protocol.allow=never',
  ...transports.map((name) => `protocol.${name}.allow=never`),
].flatMap((setting) => ['-c', setting])
