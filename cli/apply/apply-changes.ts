import type { PatchKind } from '#domain/run.ts'
import { nodePlace } from '#domain/timeline/words.ts'
import type { ChangeView } from '#schemas/change-schema.ts'
import type { ApiClient } from '../api-client.ts'
import { changesWhere } from '../api-lists.ts'
import { isCurrent, rulesOf } from '../run/describe-decisions.ts'
import type { CliContext } from '../cli-context.ts'
import { fetchChanges } from './fetch-changes.ts'
import { requireRunsFolder } from './find-folder.ts'
import { mergeChanges, type RefusedFile, type Step } from './merge-changes.ts'
import { hunksIn, type LineSpan, touch } from './merge-files.ts'
import { writeChanges } from './write-changes.ts'

type ApplyOrder = {
  runId: string
  of: PatchKind
  folder: string
  /** Is a folder for what is compared and merged. */
  scratch: string
  signal: AbortSignal
  beforeWriting?: (steps: readonly Step[]) => Promise<void>
}

/** Writes what a run changes into `folder`, merged with what has changed there since, or nothing: WORK_002 says of which files, and why. */
export async function applyChanges(
  client: Pick<ApiClient, 'listChanges' | 'readChangedFiles'>,
  { runId, of, folder, scratch, signal, beforeWriting }: ApplyOrder,
  { config, cwd }: Pick<CliContext, 'config' | 'cwd'>,
): Promise<Step[]> {
  const changes = await fetchChanges(client, { runId, of, scratch })
  await requireRunsFolder(folder, changes, { runId, cwd, env: config.settings.own })
  const describe = (refused: readonly RefusedFile[]) => nameCollidingSets(client, { runId, of }, refused)
  const steps = await mergeChanges(folder, changes, { scratch, searchPath: config.searchPath, describe })
  await beforeWriting?.(steps)
  signal.throwIfAborted()
  await writeChanges(folder, steps)
  return steps
}

const namedSets = 20

/** Names each change set that changes a place where the folder has changed, too, and the command without these. */
async function nameCollidingSets(
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
