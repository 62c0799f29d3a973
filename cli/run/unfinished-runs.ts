import { describeModelKind, mayGoOn, type ModelKind, modelKindOf } from '#domain/model-kind.ts'
import { isEnded } from '#domain/run.ts'
import { plural } from '#domain/timeline/words.ts'
import type { RunSummary } from '#schemas/run-schema.ts'
import type { ApiClient } from '../api-client.ts'
import { unendedRuns } from '../api-lists.ts'
import { kindOfModel } from '../model-server.ts'

const shown = 5

export type UnfinishedRuns = {
  /** Ids of those that the stack continues, newest first. */
  goingOn: readonly string[]
  /** Lists those that were begun with the other kind of model and wait for a stack that has it. */
  waiting: readonly RunSummary[]
}

/** Returns the runs that have not ended, without the run `except`; `modelKind` is the stack's. */
export async function unfinishedRuns(
  client: Pick<ApiClient, 'listRuns'>,
  { modelKind, except }: { modelKind: ModelKind | undefined; except?: string | undefined },
): Promise<UnfinishedRuns> {
  const runs: RunSummary[] = []
  for await (const run of unendedRuns(client)) if (run.run_id !== except) runs.push(run)
  const goesOn = (run: RunSummary) => mayGoOn(run.request.labels, modelKind)
  return { goingOn: runs.filter(goesOn).map((run) => run.run_id), waiting: runs.filter((run) => !goesOn(run)) }
}

/** Says what a stack does with the runs it was not started for: a line for those it continues, and one for those that wait. */
export function describeUnfinished({ goingOn, waiting }: UnfinishedRuns, modelUrls: string | undefined): string {
  const [next] = waiting
  const kind = modelKindOf(next?.request.labels)
  const also =
    goingOn.length === 0 ? '' : `also continuing ${plural(goingOn.length, 'earlier run')}: ${first(goingOn)}\n`
  if (next === undefined || kind === undefined) return also
  const ids = first(waiting.map((run) => run.run_id))
  const way = resumeCommand(next, modelUrls)
  return `${also}not continued, because begun with ${describeModelKind(kind)}: ${ids}; to continue: ${way}\n`
}

function first(runs: readonly string[]): string {
  return `${runs.slice(0, shown).join(', ')}${runs.length > shown ? ', …' : ''}`
}

/** Returns the status of each of `runs` with the command to go on with; empty when there are none. */
export async function whatBecameOf(runs: readonly string[], client: Pick<ApiClient, 'getRun'>): Promise<string> {
  const lines = await Promise.all(
    runs.slice(0, shown).map(async (runId) => {
      const { status } = await client.getRun(runId)
      const next = isEnded(status) ? `its patch: remora diff ${runId}` : `to continue it: remora run --resume ${runId}`
      return `Earlier run ${runId}: ${status}; ${next}\n`
    }),
  )
  return lines.join('')
}

/** Returns the `--model` of this command, with a blank before it, for a command that continues or retries its run. */
export function sameModelFlag(model: string | undefined): string {
  return model === undefined ? '' : ` --model ${/^[\w@%+=:,./[\]-]+$/.test(model) ? model : `'${model}'`}`
}

/** Returns the command that continues an idle run. It names a model when the environment's is of another kind. */
export function resumeCommand({ run_id: runId, request }: Pick<RunSummary, 'run_id' | 'request'>, modelUrls?: string) {
  const kind = modelKindOf(request.labels)
  const isOther = kind !== undefined && kind !== kindOfModel(modelUrls)
  return `remora run --resume ${runId}${isOther ? ` --model ${kind === 'rehearsal' ? kind : 'URL'}` : ''}`
}
