import type { Env } from '#platform/env.ts'
import { bubblewrapDir, obtainBubblewrap } from '#platform/obtain-bubblewrap.ts'
import { openSandbox, type Sandbox, type SandboxOptions } from './open-sandbox.ts'
import type { ProgramResult, SandboxedProgram, SandboxLimits } from './sandboxed-program.ts'

/** The sandbox of this machine, got as `remora run` gets it, or why there is none. */
export async function testSandbox(
  env: Env,
  options: Pick<SandboxOptions, 'places'> = {},
): Promise<{ sandbox: Sandbox; lack: string | undefined; options: SandboxOptions }> {
  const isRoot = process.getuid?.() === 0
  const searchPath = env['PATH'] ?? ''
  const mayInstall = env['REMORA_REDIS_INSTALL'] !== 'never'
  const places = { searchPath, programDir: bubblewrapDir(env, isRoot), env, signal: new AbortController().signal }
  const got = await obtainBubblewrap({ ...places, isRoot, mayInstall, say: () => {} })
  const found = { ...options, searchPath, bubblewrap: 'path' in got ? got.path : undefined }
  const sandbox = openSandbox(found)
  const state = await sandbox.state()
  return { sandbox, options: found, lack: state.kind === 'works' ? undefined : state.reason }
}

type RunOptions = Partial<Pick<SandboxedProgram, 'files' | 'report' | 'environment'>> & {
  limits?: Partial<SandboxLimits>
  signal?: AbortSignal
}

export function runIn(
  sandbox: Sandbox,
  command: SandboxedProgram['command'],
  { limits, signal = new AbortController().signal, files = {}, ...rest }: RunOptions = {},
): Promise<ProgramResult> {
  return sandbox.run({ command, files, ...rest, limits: { ...usualLimits, ...limits } }, signal)
}

export const usualLimits: SandboxLimits = {
  wallMs: 60_000,
  memoryBytes: 512 * 1024 ** 2,
  diskBytes: 512 * 1024 ** 2,
  processes: 128,
}
