import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

export type Command = {
  /** A program and its arguments. */
  argv: readonly [string, ...string[]]
  cwd: string
  /** Nothing else of this environment is passed on. */
  env: Readonly<Record<string, string>>
  limitMs: number
  /** What it writes to standard output and standard error goes to `FILE.out` and `FILE.err`. */
  logFile: string
}

export type CommandEnd = { code: number | null; late: boolean; ms: number; out: string; err: string }

/** Runs a program without input to its end; its whole process group is ended after `limitMs`. */
export async function runCommand({
  argv: [program, ...args],
  cwd,
  env,
  limitMs,
  logFile,
}: Command): Promise<CommandEnd> {
  const files = { out: `${logFile}.out`, err: `${logFile}.err` }
  const [out, err] = [openSync(files.out, 'w'), openSync(files.err, 'w')]
  const start = performance.now()
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', out, err], detached: true })
  closeSync(out)
  closeSync(err)
  const limit = AbortSignal.timeout(limitMs)
  const endGroup = () => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  }
  limit.addEventListener('abort', endGroup)
  process.once('exit', endGroup)
  try {
    await once(child, 'close')
  } finally {
    limit.removeEventListener('abort', endGroup)
    process.removeListener('exit', endGroup)
  }
  return {
    code: child.exitCode,
    late: limit.aborted,
    ms: performance.now() - start,
    out: await readFile(files.out, 'utf8'),
    err: await readFile(files.err, 'utf8'),
  }
}

/** The variables programs of a virtual environment run with: its programs first, and the same hashes every time. */
export function pythonEnv(python: string, more: Readonly<Record<string, string>> = {}): Record<string, string> {
  const { PATH = '', HOME = '' } = process.env
  const bin = dirname(python)
  return { PATH: `${bin}:${PATH}`, VIRTUAL_ENV: join(bin, '..'), HOME, LANG: 'C.UTF-8', PYTHONHASHSEED: '0', ...more }
}
