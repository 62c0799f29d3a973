import { openSandbox, type Sandbox } from './open-sandbox.ts'
import type { ProgramResult, SandboxedProgram, SandboxLimits } from './sandboxed-program.ts'

/** The sandbox of this machine, or why it has none. */
export async function testSandbox(searchPath = ''): Promise<{ sandbox: Sandbox; lack: string | undefined }> {
  const sandbox = openSandbox({ searchPath })
  const state = await sandbox.state()
  return { sandbox, lack: state.kind === 'works' ? undefined : state.reason }
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
