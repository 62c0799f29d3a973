import type { PatchKind } from '#domain/run.ts'
import { nodePlace } from '#domain/timeline/words.ts'
import type { ChangeView } from '#schemas/change-schema.ts'
import type { ApiClient } from '../api-client.ts'
import { changesWhere } from '../api-lists.ts'
import { isCurrent, rulesOf } from '../run/describe-decisions.ts'
import { hunksIn, type LineSpan, touch } from './merge-files.ts'
import type { RefusedFile } from './merge-changes.ts'

const namedSets = 20

/** Names each change set that changes a place where the folder has changed, too, and the command without these. */
export async function nameCollidingSets(
  client: Pick<ApiClient, 'listChanges'>,
  { runId, of }: { runId: string; of: PatchKind },
  refused: readonly RefusedFile[],
): Promise<string[]> {
  const spans = new Map(refused.flatMap(({ path, places }) => (places.length === 0 ? [] : [[path, places] as const])))
  if (spans.size === 0) return []
  const colliding = new Map<string, string>()
  for (const verdict of of === 'accepted' ? ['accepted'] : ['accepted', 'pending']) {
    for await (const change of changesWhere(client, runId, { verdict }, { context: 0 })) {
      if (!isCurrent(change) || change.conflict !== undefined) continue
      const line = lineOf(change, spans)
      if (line !== undefined) colliding.set(change.change_set_id, line)
    }
  }
  if (colliding.size === 0) return []
  const shown = [...colliding].slice(0, namedSets)
  const more = colliding.size > shown.length ? [`  … and ${colliding.size - shown.length} more`] : []
  const ids = shown.map(([id]) => id).join(' ')
  const without = of === 'accepted' ? 'undo' : 'reject'
  return [
    'There these change the same:',
    ...shown.map(([, line]) => `  ${line}`),
    ...more,
    `To go on without them: remora ${without} ${runId} ${ids} --with-dependents`,
  ]
}

/** `docstring shop.py price c0123456789abcdef (line 12)`: the line of the folder's file. */
function lineOf(change: ChangeView, spans: ReadonlyMap<string, RefusedFile['places']>): string | undefined {
  for (const [path, places] of spans) {
    const own = hunksOf(change.diff, path)
    const collision = places.find(({ base }) => own.some((span) => touch(span, base)))
    if (collision === undefined) continue
    const { agent, path: nodePath, qualified_name: name, change_set_id: id } = change
    return `${[agent, nodePlace(nodePath, name), ...rulesOf(change), id].join(' ')} (${path} line ${collision.line})`
  }
  return undefined
}

function hunksOf(diff: string, path: string): LineSpan[] {
  const files = diff.split(/^(?=diff --git )/m)
  const own = files.filter((file) => file.includes(`\n--- a/${path}\n`) || file.includes(`\n+++ b/${path}\n`))
  return own.flatMap((file) => hunksIn(file).map(({ before }) => before))
}
