import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { after } from '#platform/clock.ts'
import { bareEnv } from './bare-env.ts'
import type { Env } from './env.ts'
import { withinLimit } from './within-limit.ts'

/** How a short-lived program ended. `out` and `err` are the last 8,000 characters it wrote. */
export type ProgramEnd =
  | { kind: 'ended'; code: number | null; out: string; err: string }
  | { kind: 'absent'; reason: string }
  | { kind: 'late'; out: string; err: string }

const keptChars = 8_000
const killMs = 2_000

/** `env`: that of this process; the program is given the bare part of it. */
export type Running = { limitMs: number; signal: AbortSignal; env: Env }

/**
 * Runs a program to its end, without input, in a process group of its own that is ended after `limitMs` (`late`) or
 * when `signal` is aborted (throws its reason). Fails never otherwise: what cannot be started is `absent`.
 */
export async function runProgram(
  [program, ...args]: readonly [string, ...string[]],
  { limitMs, signal, env }: Running,
): Promise<ProgramEnd> {
  signal.throwIfAborted()
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true, env: bareEnv(env) })
  const said = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said.out = `${said.out}${text}`.slice(-keptChars)))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said.err = `${said.err}${text}`.slice(-keptChars)))
  const late = (): ProgramEnd => ({ kind: 'late', ...said })
  try {
    return await withinLimit(
      endOf(child, async () => said),
      { limitMs, signal, late },
    )
  } finally {
    endGroup(child)
  }
}

/** How `child` ends by itself; `said` is asked for what it wrote when it has. */
export function endOf(child: ChildProcess, said: () => Promise<{ out: string; err: string }>): Promise<ProgramEnd> {
  return once(child, 'close').then(
    async ([code]: unknown[]): Promise<ProgramEnd> => ({
      kind: 'ended',
      code: typeof code === 'number' ? code : null,
      ...(await said()),
    }),
    (error: Error): ProgramEnd => ({ kind: 'absent', reason: error.message }),
  )
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
