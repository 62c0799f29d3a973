import { obtainRuff, type RuffProgram } from '#platform/obtain-ruff.ts'
import { programCache } from '#platform/program-cache.ts'

let found: Promise<RuffProgram> | undefined

/** The Ruff that tests lint with, got as `remora run` gets it. */
export function testRuff(): Promise<RuffProgram> {
  const { env } = process
  return (found ??= obtainRuff({
    searchPath: env['PATH'] ?? '',
    programDir: programCache(env),
    mayInstall: true,
    isRoot: process.getuid?.() === 0,
    env,
    say: (line) => void process.stderr.write(`${line}\n`),
    signal: new AbortController().signal,
  }))
}
