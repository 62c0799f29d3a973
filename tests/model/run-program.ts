import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { repository } from '../e2e/program.ts'

export type Ended = { code: number | null; out: string }

/** A run's own services need a moment to end; after it they are ended. */
const stopLimitMs = 30_000

/** `npx remora …` in `cwd`, with nothing of this environment but PATH and HOME; its own words for people go to this terminal. */
export async function runRemora(
  args: readonly string[],
  { cwd, env, limitMs, signal }: { cwd: string; env: Record<string, string>; limitMs: number; signal: AbortSignal },
): Promise<Ended> {
  signal.throwIfAborted()
  console.log(`remora ${args.join(' ')}`)
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(process.execPath, [`${repository}cli/remora.mjs`, ...args], {
    cwd,
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  const ended = once(child, 'close')
  const limit = AbortSignal.any([signal, AbortSignal.timeout(limitMs)])
  const onAbort = () => {
    child.kill('SIGINT')
    AbortSignal.timeout(stopLimitMs).addEventListener('abort', () => child.kill('SIGKILL'))
  }
  limit.addEventListener('abort', onAbort)
  await ended
  limit.removeEventListener('abort', onAbort)
  signal.throwIfAborted()
  return { code: child.exitCode, out: Buffer.concat(chunks).toString('utf8') }
}
