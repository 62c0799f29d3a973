import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { bareEnv } from './bare-env.ts'
import type { Env } from './env.ts'
import { examineRedis } from './examine-redis.ts'
import { findProgram } from './find-program.ts'
import { removeAbandoned } from './remove-abandoned.ts'
import { withinLimit } from './within-limit.ts'

/** A program, or in one line why there is none. */
export type BuildResult = { program: string } | { refusal: string }

/** A release of Redis, with the digest of its source; without `url` that is where the Redis project publishes it. */
export const RedisRelease = z.object({ version: z.string(), sha256: z.string(), url: z.string().optional() })
export type RedisRelease = z.infer<typeof RedisRelease>

export type BuildOptions = { env: Env; signal: AbortSignal; release?: RedisRelease }

/** As the list of digests that the Redis project keeps says (redis-hashes). */
const builtRelease: RedisRelease = {
  version: '7.2.11',
  sha256: '2f9886eca68d30114ad6a01da65631f8007d802fd3e6c9fac711251e6390323d',
}

const entry = fileURLToPath(new URL('build-redis-main.ts', import.meta.url))
const buildMs = 600_000
const folderPrefix = 'build-'
/** Without it the library does not look at the certificate of what it downloads. */
const strictly = { npm_config_strict_ssl: 'true' }
const Report = z.union([z.object({ program: z.string() }), z.object({ refusal: z.string() })])

/** Whether a build can start at all: it needs make and a C compiler. */
export async function canBuild(searchPath: string): Promise<boolean> {
  const found = await Promise.all(['make', 'cc', 'gcc', 'clang'].map((name) => findProgram(name, searchPath)))
  return found[0] !== undefined && found.slice(1).some((path) => path !== undefined)
}

/**
 * Downloads the source of one release of Redis, proves that it is that, builds it in a process of its own, proves that it
 * runs, and puts it into `dir` as `redis-server`, in the place of what is there; minutes. Until then it is in a folder of
 * this build alone, so that several may be under way and none is found half done.
 */
export async function buildRedis(dir: string, options: BuildOptions): Promise<BuildResult> {
  await removeAbandoned(dir, [folderPrefix])
  const folder = await mkdtemp(join(dir, folderPrefix))
  try {
    const built = await buildIn(folder, options)
    if ('refusal' in built) return built
    const examined = await examineRedis(built.program, options)
    if (examined?.fits !== true) return { refusal: 'what was built is no Redis server' }
    const program = join(dir, 'redis-server')
    await rename(built.program, program)
    return { program }
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function buildIn(folder: string, { env, signal, release = builtRelease }: BuildOptions): Promise<BuildResult> {
  const address = release.url === undefined ? {} : { REDISMS_DOWNLOAD_URL: release.url }
  const child = spawn(process.execPath, [entry, JSON.stringify(release)], {
    cwd: folder,
    env: { ...bareEnv(env), ...strictly, ...address },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    detached: true,
  })
  const ended = once(child, 'close')
  const late = () => ({ refusal: `the build took over ${buildMs / 60_000} minutes` })
  try {
    return await withinLimit(reportOf(child, ended), { limitMs: buildMs, signal, late })
  } finally {
    endGroup(child)
    await ended.catch(() => {}) // it was told in the report that it did not start
  }
}

async function reportOf(child: ChildProcess, ended: Promise<unknown>): Promise<BuildResult> {
  const gone = ended.then(() => [undefined])
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
