import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { after } from '#platform/clock.ts'

/** How a short-lived program ended. `out` and `err` are the last 8,000 characters it wrote. */
export type ProgramEnd =
  | { kind: 'ended'; code: number | null; out: string; err: string }
  | { kind: 'absent'; reason: string }
  | { kind: 'late'; out: string; err: string }

const keptChars = 8_000
const killMs = 2_000

/**
 * Runs a program to its end, without input, in a process group of its own that is ended after `limitMs` (`late`) or
 * when `signal` is aborted (throws its reason). Fails never otherwise: what cannot be started is `absent`.
 */
export async function runProgram(
  [program, ...args]: readonly [string, ...string[]],
  { limitMs, signal }: { limitMs: number; signal: AbortSignal },
): Promise<ProgramEnd> {
  signal.throwIfAborted()
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  const said = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said.out = `${said.out}${text}`.slice(-keptChars)))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said.err = `${said.err}${text}`.slice(-keptChars)))
  const ended = once(child, 'close').then(
    ([code]: unknown[]): ProgramEnd => ({ kind: 'ended', code: typeof code === 'number' ? code : null, ...said }),
    (error: Error): ProgramEnd => ({ kind: 'absent', reason: error.message }),
  )
  const late = Promise.withResolvers<ProgramEnd>()
  const cancelLimit = after(limitMs, () => late.resolve({ kind: 'late', ...said }))
  const abort = () => late.reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([ended, late.promise])
  } finally {
    cancelLimit()
    signal.removeEventListener('abort', abort)
    endGroup(child)
  }
}

/** Also when the program itself has ended: what it has started and left is ended with it. */
function endGroup(child: ChildProcess): void {
  if (child.pid === undefined) return
  killGroup(child.pid, 'SIGTERM')
  if (child.exitCode === null && child.signalCode === null) after(killMs, () => killGroup(child.pid ?? 0, 'SIGKILL'))
}

/** What runs as another user (sudo) cannot be ended by us; a group that is gone needs not. */
function killGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    if (pid > 0) process.kill(-pid, signal)
  } catch {
    return
  }
}

/** The last line of what a program said, at most 300 characters; empty when it said nothing. */
export function lastLineOf(text: string): string {
  return text.trimEnd().split('\n').at(-1)?.trim().slice(-300) ?? ''
}
