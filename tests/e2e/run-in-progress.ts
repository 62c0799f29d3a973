import { readdir } from 'node:fs/promises'
import { until } from '#testing/until.ts'
import { atWork } from './living-processes.ts'
import { type Programs, remora } from './program.ts'
import type { SourceFolder } from './source-folder.ts'

/** `remora run` on the folder, in which an operation has ended and others have not; `started` are the processes that it has started. */
export async function runInProgress(programs: Programs, folder: SourceFolder) {
  const run = remora(programs, folder, ['run', '.', '--agents', 'docstring', '--out', 'half.patch', '--json'])
  const started = await atWork(run)
  await until(() => run.out(), { holds: (text) => text.includes('"operation.ended"'), withinMs: 30_000 })
  return { run, started }
}

/** What a stopped run says of how it goes on. */
export function wayOn(runId: string): string {
  return `To continue it: remora run --resume ${runId}   To stop it for good: remora cancel ${runId}\n`
}

/** The patches in a folder, whole ones and parts: a run leaves nothing else beside its data. */
export async function patchesIn(folder: SourceFolder): Promise<string[]> {
  return (await readdir(folder.path)).filter((name) => name.includes('.patch') || name.includes('.part'))
}
