import { AppError } from '#domain/error.ts'
import type { KnownProgram } from '#platform/known-programs.ts'
import { obtainProgram, withProgram } from '#platform/obtain-program.ts'
import { programCache } from '#platform/program-cache.ts'

/** Gets a program for tests and measurements as `remora run` does, and puts it on the PATH of `env`. CONFIG_006 when there is none. */
export async function putProgramOnPath(
  wanted: KnownProgram,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const { path, lack } = await obtainProgram(wanted, {
    searchPath: env['PATH'] ?? '',
    programDir: programCache(env),
    mayInstall: env['REMORA_REDIS_INSTALL'] !== 'never',
    isRoot: process.getuid?.() === 0,
    env,
    say: (line) => void process.stderr.write(`${line}\n`),
    signal,
  })
  if (path === undefined) throw new AppError('CONFIG_006', lack)
  env['PATH'] = withProgram(env['PATH'] ?? '', path)
}
