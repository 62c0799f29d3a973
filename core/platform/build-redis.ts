import { createHash } from 'node:crypto'
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { unpackTar } from 'modern-tar/fs'
import { EnvHttpProxyAgent, fetch } from 'undici'
import { givenValue } from './env.ts'
import { isFit, type Look, redisServer, removeAbandoned } from './program-cache.ts'
import { findProgram, lastLineOf, runProgram } from './run-program.ts'

export type BuildResult = { program: string } | { refusal: string }

export type RedisRelease = { version: string; sha256: string; url: string }

export type BuildOptions = Look & { release?: RedisRelease }

/** The digest is from redis-hashes, the list that the Redis project publishes. */
const builtRelease: RedisRelease = {
  version: '7.2.11',
  sha256: '2f9886eca68d30114ad6a01da65631f8007d802fd3e6c9fac711251e6390323d',
  url: 'https://download.redis.io/releases/redis-7.2.11.tar.gz',
}

const buildMs = 600_000
const folderPrefix = 'build-'

export async function canBuild(searchPath: string): Promise<boolean> {
  const found = await Promise.all(['make', 'cc', 'gcc', 'clang'].map((name) => findProgram(name, searchPath)))
  return found[0] !== undefined && found.slice(1).some((path) => path !== undefined)
}

/**
 * Downloads a release of Redis, checks its digest, builds it, checks that it runs, and renames it to `redis-server` in
 * `dir`; takes minutes. Several may run at once. Throws the reason of `signal` after the compilers have ended.
 */
export async function buildRedis(dir: string, options: BuildOptions): Promise<BuildResult> {
  await removeAbandoned(dir, [folderPrefix])
  const folder = await mkdtemp(join(dir, folderPrefix))
  try {
    const built = await buildIn(folder, options)
    if ('refusal' in built) return built
    if (!(await isFit(redisServer, built.program, options))) return { refusal: 'what was built is no Redis server' }
    const program = join(dir, redisServer.name)
    await rename(built.program, program)
    return { program }
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function buildIn(folder: string, { env, signal, release = builtRelease }: BuildOptions): Promise<BuildResult> {
  const refusal = await downloadSource(folder, release, { env, signal }).catch((error: unknown) => {
    signal.throwIfAborted()
    return `the download failed: ${describe(error)}`
  })
  if (refusal !== undefined) return { refusal }
  const command = ['make', '-C', folder, `-j${availableParallelism()}`, 'MALLOC=libc', 'redis-server'] as const
  const end = await runProgram(command, { limitMs: buildMs, signal, env })
  if (end.kind === 'late') return { refusal: `the build took over ${buildMs / 60_000} minutes` }
  if (end.kind === 'absent') return { refusal: `the build failed: ${end.reason}` }
  if (end.code !== 0) return { refusal: `the build failed: ${lastLineOf(end.err) || `make ended with ${end.code}`}` }
  return { program: join(folder, 'src', 'redis-server') }
}

/** Unpacks the source into `folder`; returns why not when it is not the release that `release` names. */
async function downloadSource(
  folder: string,
  { version, sha256, url }: RedisRelease,
  { env, signal }: Look,
): Promise<string | undefined> {
  const value = (name: string) => givenValue(env, name.toLowerCase()) ?? givenValue(env, name) ?? ''
  const proxies = { httpProxy: value('HTTP_PROXY'), httpsProxy: value('HTTPS_PROXY'), noProxy: value('NO_PROXY') }
  const dispatcher = new EnvHttpProxyAgent(proxies)
  try {
    const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(buildMs)]), dispatcher })
    if (!response.ok) return `the download failed: ${url} answered ${response.status}`
    const archive = Buffer.from(await response.arrayBuffer())
    const found = createHash('sha256').update(archive).digest('hex')
    if (found !== sha256) return `what was downloaded is not Redis ${version}: its SHA-256 is ${found}`
    await pipeline(Readable.from([archive]), createGunzip(), unpackTar(folder, { strip: 1 }), { signal })
    return undefined
  } finally {
    await dispatcher.destroy()
  }
}

function describe(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return cause instanceof Error ? cause.message : String(cause)
}
