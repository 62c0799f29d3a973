import { type ProgramReport, soughtPrograms } from '#domain/program-report.ts'
import type { Sandbox } from './open-sandbox.ts'

const limits = { wallMs: 20_000, memoryBytes: 64 * 1024 ** 2, diskBytes: 16 * 1024 ** 2, processes: 16 }
const script = 'for name; do ! command -v "$name" >/dev/null || echo "$name"; done'
/** Somebody may install a sandbox while a worker runs. */
const triedAgainMs = 60_000

/** Returns a function that says which sought programs are there, gofmt also outside the sandbox. It looks once, and each minute without a sandbox. */
export function openProgramSearch(
  sandbox: Pick<Sandbox, 'run' | 'state'>,
  gofmt: { lack(): Promise<string | undefined> },
): () => Promise<ProgramReport> {
  let [last, lookedAt]: [Promise<ProgramReport> | undefined, number] = [undefined, 0]
  const look = async (): Promise<ProgramReport> => {
    const outside = (await gofmt.lack()) === undefined ? ['gofmt'] : []
    const state = await sandbox.state()
    if (state.kind === 'lacking') return { names: outside, lack: state.reason }
    const program = { command: ['sh', '-c', script, 'sh', ...soughtPrograms] as const, files: {}, limits }
    const { output } = await sandbox.run(program, new AbortController().signal)
    return { names: [...output.split('\n').filter((name) => name !== ''), ...outside] }
  }
  return async () => {
    const report = await last?.catch(() => undefined)
    const isOld = report?.lack !== undefined && performance.now() - lookedAt > triedAgainMs
    if (report !== undefined && !isOld) return report
    lookedAt = performance.now()
    last = look()
    return last
  }
}
