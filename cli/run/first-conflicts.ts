import type { ApiClient } from '../api-client.ts'
import type { RunView } from '../api-views.ts'
import type { ConflictLine } from '../progress/result-report.ts'

const shown = 5
const maxPages = 20

/** The first change sets that were left out of the run's patch, at most five. */
export async function firstConflicts(client: Pick<ApiClient, 'listChanges'>, run: RunView): Promise<ConflictLine[]> {
  const found: ConflictLine[] = []
  let cursor: string | undefined
  for (let pages = 0; found.length < Math.min(run.conflicts, shown) && pages < maxPages; pages++) {
    const page = await client.listChanges(run.run_id, { ...(cursor === undefined ? {} : { cursor }), limit: 100 })
    for (const { change_set_id: changeSetId, conflict } of page.changes) {
      if (conflict !== undefined) found.push({ changeSetId, code: conflict.error_code, reason: conflict.reason })
    }
    if (page.next === null) break
    cursor = page.next
  }
  return found.slice(0, shown)
}
