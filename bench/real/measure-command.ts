import { join } from 'node:path'
import { type Command, runCommand } from '../repositories/run-command.ts'
import { processCpu, watchPeaks } from '../remora/process-cpu.ts'

/** Holds what a program and all that it started cost; `peaksMb` is of each process, by its program. */
export type CommandFigures = { wallMs: number; cpuMs: number; peaksMb: [program: string, mb: number][]; out: string }

const limitMs = 30 * 60_000

/** Runs a program in `place`, which is its home, too. Nothing else may be started meanwhile: what this process waits for is counted. */
export async function measureCommand(
  argv: Command['argv'],
  { place, env = {} }: { place: string; env?: Readonly<Record<string, string>> },
): Promise<CommandFigures> {
  const { PATH = '' } = process.env
  const before = processCpu(process.pid).children
  const peaks = watchPeaks()
  const end = await runCommand({
    argv,
    cwd: place,
    env: { PATH, HOME: place, ...env },
    limitMs,
    logFile: join(place, 'said'),
  })
  const peaksMb = await peaks()
  if (end.code !== 0)
    throw new Error(`${argv.join(' ')} ended with ${end.code}: ${end.err.slice(-1_000)}${end.out.slice(-1_000)}`)
  return { wallMs: end.ms, cpuMs: processCpu(process.pid).children - before, peaksMb, out: end.out }
}
