import type { ApiClient } from '../api-client.ts'
import { hasEnded } from '../has-ended.ts'
import { plural } from '../plural.ts'

const pageSize = 100
const pagesRead = 10
const shown = 5

/** Ids of the runs that have not ended, newest first; of the latest 1,000 runs. */
export async function unfinishedRuns(client: Pick<ApiClient, 'listRuns'>): Promise<string[]> {
  const found: string[] = []
  let before: string | undefined
  for (let pages = 0; pages < pagesRead; pages++) {
    const page = await client.listRuns({ limit: pageSize, ...(before === undefined ? {} : { before }) })
    found.push(...page.runs.filter(({ status }) => !hasEnded(status)).map((run) => run.run_id))
    if (page.next === null) break
    before = page.next
  }
  return found
}

/** A line that says that a stack goes on with `runs`, which it was not asked for; empty when there are none. */
export function goingOnWith(runs: readonly string[]): string {
  if (runs.length === 0) return ''
  const first = runs.slice(0, shown).join(', ')
  return `also going on with ${plural(runs.length, 'earlier run')}: ${first}${runs.length > shown ? ', …' : ''}\n`
}

/** A line for each of `runs`, with what to do about it; empty when there are none. */
export async function whatBecameOf(runs: readonly string[], client: Pick<ApiClient, 'getRun'>): Promise<string> {
  const lines = await Promise.all(
    runs.slice(0, shown).map(async (runId) => {
      const { status } = await client.getRun(runId)
      const next = hasEnded(status)
        ? `its patch: remora diff ${runId}`
        : 'it goes on when a stack is started here again'
      return `Earlier run ${runId}: ${status}; ${next}.\n`
    }),
  )
  return lines.join('')
}
