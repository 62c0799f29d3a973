import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { after } from '#platform/clock.ts'
import type { Env } from './env.ts'
import { findProgram } from './find-program.ts'

/** A program, or in one line why there is none. */
export type BuildResult = { program: string } | { refusal: string }

const entry = fileURLToPath(new URL('build-redis-main.ts', import.meta.url))
const buildMs = 600_000
/** All that a download and a compiler need; what is secret here is not theirs. */
const passedOn = ['PATH', 'HOME', 'TMPDIR', 'CC', 'https_proxy', 'http_proxy', 'HTTPS_PROXY', 'HTTP_PROXY']
/** Without it the library does not look at the certificate of what it downloads. */
const strictly = { npm_config_strict_ssl: 'true' }
const Report = z.union([z.object({ program: z.string() }), z.object({ refusal: z.string() })])

/** Whether a build can start at all: it needs make and a C compiler. */
export async function canBuild(searchPath: string): Promise<boolean> {
  const found = await Promise.all(['make', 'cc', 'gcc', 'clang'].map((name) => findProgram(name, searchPath)))
  return found[0] !== undefined && found.slice(1).some((path) => path !== undefined)
}

/**
 * Downloads the source of one release of Redis, proves that it is that, and builds it in `dir` (made if missing), in a process of its own; minutes. Answers at once
 * what is there from an earlier call.
 */
export async function buildRedis(
  dir: string,
  { env, signal }: { env: Env; signal: AbortSignal },
): Promise<BuildResult> {
  const bare = Object.fromEntries(passedOn.map((name) => [name, env[name]]))
  const child = spawn(process.execPath, [entry, dir], {
    env: { ...bare, ...strictly },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    detached: true,
  })
  const late = Promise.withResolvers<BuildResult>()
  const cancelLimit = after(buildMs, () => late.resolve({ refusal: `the build took over ${buildMs / 60_000} minutes` }))
  const abort = () => late.reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    signal.throwIfAborted()
    return await Promise.race([reportOf(child), late.promise])
  } finally {
    cancelLimit()
    signal.removeEventListener('abort', abort)
    endGroup(child)
  }
}

async function reportOf(child: ChildProcess): Promise<BuildResult> {
  const gone = once(child, 'exit').then(() => [undefined])
  const [message]: unknown[] = await Promise.race([once(child, 'message'), gone])
  return Report.safeParse(message).data ?? { refusal: 'the build ended without a word' }
}

/** The compilers a build has started are of its group. */
function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    return // it has ended
  }
}
