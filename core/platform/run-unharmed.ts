import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile } from 'node:fs/promises'
import { after } from '#platform/clock.ts'
import type { ProgramEnd } from './run-program.ts'

/**
 * Runs a program that must not be stopped halfway, without input: after `limitMs` (`late`), or when `signal` is aborted
 * (throws its reason), it goes on by itself, also when this process ends. What it says goes to `logPath`, because a pipe
 * would break under it.
 */
export async function runUnharmed(
  [program, ...args]: readonly [string, ...string[]],
  { limitMs, signal, logPath }: { limitMs: number; signal: AbortSignal; logPath: string },
): Promise<ProgramEnd> {
  signal.throwIfAborted()
  const log = await open(logPath, 'w')
  const child = spawn(program, args, { stdio: ['ignore', log.fd, log.fd], detached: true })
  const ended = once(child, 'close').then(
    async ([code]: unknown[]): Promise<ProgramEnd> => {
      const said = await readFile(logPath, 'utf8')
      return { kind: 'ended', code: typeof code === 'number' ? code : null, out: said, err: '' }
    },
    (error: Error): ProgramEnd => ({ kind: 'absent', reason: error.message }),
  )
  const late = Promise.withResolvers<ProgramEnd>()
  const cancelLimit = after(limitMs, () => late.resolve({ kind: 'late', out: '', err: '' }))
  const abort = () => late.reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([ended, late.promise])
  } finally {
    cancelLimit()
    signal.removeEventListener('abort', abort)
    child.unref()
    await log.close()
  }
}
