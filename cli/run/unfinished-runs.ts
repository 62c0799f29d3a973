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
