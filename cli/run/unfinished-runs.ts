import { describeModelKind, mayGoOn, modelKindOf, type ModelKind } from '#domain/model-kind.ts'
import type { ApiClient } from '../api-client.ts'
import type { RunView } from '../api-views.ts'
import { hasEnded } from '../has-ended.ts'
import { plural } from '../plural.ts'
import { resumeCommand } from './model-flag.ts'

const pageSize = 100
const pagesRead = 10
const shown = 5

export type UnfinishedRuns = {
  /** Ids of those that the stack goes on with, newest first. */
  goingOn: readonly string[]
  /** Those that were begun with the other kind of model, and wait for a stack that has it. */
  waiting: readonly RunView[]
}

/** The runs that have not ended, of the latest 1,000, but for the one named; `modelKind` is the stack's. */
export async function unfinishedRuns(
  client: Pick<ApiClient, 'listRuns'>,
  { modelKind, except }: { modelKind: ModelKind | undefined; except?: string },
): Promise<UnfinishedRuns> {
  const runs = (await allUnfinished(client)).filter((run) => run.run_id !== except)
  const goesOn = (run: RunView) => mayGoOn(run.request.labels, modelKind)
  return { goingOn: runs.filter(goesOn).map((run) => run.run_id), waiting: runs.filter((run) => !goesOn(run)) }
}

async function allUnfinished(client: Pick<ApiClient, 'listRuns'>): Promise<RunView[]> {
  const found: RunView[] = []
  let before: string | undefined
  for (let pages = 0; pages < pagesRead; pages++) {
    const page = await client.listRuns({ limit: pageSize, ...(before === undefined ? {} : { before }) })
    found.push(...page.runs.filter(({ status }) => !hasEnded(status)))
    if (page.next === null) break
    before = page.next
  }
  return found
}

/** What a stack does with runs it was not asked for, in a line for those it goes on with and one for those that wait. */
export function describeUnfinished({ goingOn, waiting }: UnfinishedRuns, modelUrls: string | undefined): string {
  const [next] = waiting
  const kind = modelKindOf(next?.request.labels)
  const lines = [
    ...(goingOn.length === 0 ? [] : [`also continuing ${plural(goingOn.length, 'earlier run')}: ${first(goingOn)}\n`]),
    ...(next === undefined || kind === undefined
      ? []
      : [
          `not continued, because begun with ${describeModelKind(kind)}: ${first(waiting.map((run) => run.run_id))}; ` +
            `to continue: ${resumeCommand(next, modelUrls)}\n`,
        ]),
  ]
  return lines.join('')
}

function first(runs: readonly string[]): string {
  return `${runs.slice(0, shown).join(', ')}${runs.length > shown ? ', …' : ''}`
}

/** A line for each of `runs`, with what to do about it; empty when there are none. */
export async function whatBecameOf(runs: readonly string[], client: Pick<ApiClient, 'getRun'>): Promise<string> {
  const lines = await Promise.all(
    runs.slice(0, shown).map(async (runId) => {
      const { status } = await client.getRun(runId)
      const next = hasEnded(status) ? `its patch: remora diff ${runId}` : `to continue it: remora run --resume ${runId}`
      return `Earlier run ${runId}: ${status}; ${next}\n`
    }),
  )
  return lines.join('')
}
