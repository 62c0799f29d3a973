import { ruff } from '#platform/known-programs.ts'
import { type ObtainedProgram, obtainProgram } from '#platform/obtain-program.ts'
import { programCache } from '#platform/program-cache.ts'

let found: Promise<ObtainedProgram> | undefined

/** The Ruff that tests lint with, got as `remora run` gets it. */
export function testRuff(): Promise<ObtainedProgram> {
  const { env } = process
  return (found ??= obtainProgram(ruff, {
    searchPath: env['PATH'] ?? '',
    programDir: programCache(env),
    mayInstall: true,
    isRoot: process.getuid?.() === 0,
    env,
    say: (line) => void process.stderr.write(`${line}\n`),
    signal: new AbortController().signal,
  }))
}
