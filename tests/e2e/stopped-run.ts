import { readdir } from 'node:fs/promises'
import { until } from '#testing/until.ts'
import { atWork } from '../living-processes.ts'
import { type Programs, remora } from '../program.ts'
import type { SourceFolder } from '../source-folder.ts'

/** Begins a run, and answers once the first of its operations has ended, with the processes it has started. */
export async function inMidRun(programs: Programs, folder: SourceFolder) {
  const run = remora(programs, folder, ['run', '.', '--agents', 'docstring', '--out', 'half.patch', '--json'])
  const started = await atWork(run)
  await until(() => run.out(), { holds: (text) => text.includes('"operation.ended"'), withinMs: 30_000 })
  return { run, started }
}

/** Says how a stopped run goes on, by its id, which stands in what the command has printed. */
export function wayOn(err: string): string {
  const [, runId] = /Run (\S+) is kept in/.exec(err) ?? []
  return `To continue it: remora run --resume ${runId}   To stop it for good: remora cancel ${runId}\n`
}

/** Names what a run has left in the folder besides its data, which may be nothing but what was asked for. */
export async function written(folder: SourceFolder): Promise<string[]> {
  return (await readdir(folder.path)).filter((name) => name.includes('.patch') || name.includes('.part'))
}
