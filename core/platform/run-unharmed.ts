import { spawn } from 'node:child_process'
import { open, readFile, type FileHandle } from 'node:fs/promises'
import { bareEnv } from './bare-env.ts'
import { endOf, type ProgramEnd, type Running } from './run-program.ts'
import { withinLimit } from './within-limit.ts'

/**
 * Runs a program that must not be stopped halfway, without input: after `limitMs` (`late`), or when `signal` is aborted
 * (throws its reason), it goes on by itself, also when this process ends. What it says goes to `logPath`, because a pipe
 * would break under it. Fails never otherwise: what cannot be started, or has no log, is `absent`.
 */
export async function runUnharmed(
  command: readonly [string, ...string[]],
  { logPath, ...running }: Running & { logPath: string },
): Promise<ProgramEnd> {
  running.signal.throwIfAborted()
  const log = await open(logPath, 'w').catch((error: Error) => error)
  if (log instanceof Error) return { kind: 'absent', reason: `its log cannot be written: ${log.message}` }
  try {
    return await runLogged(command, { ...running, log, logPath })
  } finally {
    await log.close()
  }
}

async function runLogged(
  [program, ...args]: readonly [string, ...string[]],
  { log, logPath, env, limitMs, signal }: Running & { log: FileHandle; logPath: string },
): Promise<ProgramEnd> {
  const child = spawn(program, args, { stdio: ['ignore', log.fd, log.fd], detached: true, env: bareEnv(env) })
  const said = async () => ({ out: await readFile(logPath, 'utf8').catch(() => ''), err: '' })
  try {
    return await withinLimit(endOf(child, said), { limitMs, signal, late: () => ({ kind: 'late', out: '', err: '' }) })
  } finally {
    child.unref()
  }
}
