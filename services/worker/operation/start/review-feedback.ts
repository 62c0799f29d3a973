import { chainOf } from '#composition/run-chain.ts'
import type { ChangeSet } from '#domain/change-set.ts'
import type { Decision } from '#domain/decision.ts'
import type { OperationId } from '#domain/ids.ts'
import type { Attempt } from '#ledger/attempt.ts'
import type { Ledger } from '#ledger/ledger.ts'
import type { ObjectStore } from '#objects/object-store.ts'
import { getChangeSets } from '#objects/stored-records.ts'
import { openCachedAnswers } from '#platform/cached-answers.ts'
import { beginningOf, boundedSection } from '../../context/bounded-text.ts'
import { charactersOf } from '../../context/render-context.ts'

type FeedbackDeps = {
  ledger: Pick<Ledger, 'getRun' | 'readDecisions'>
  objects: Pick<ObjectStore, 'get' | 'getRange'>
}

const cachedRuns = 100
/** Somebody may say more while the run runs. */
const freshMs = 5_000
/** The last rejections; earlier ones have been answered by these. */
const mostShown = 3
const maxReason = 1_000
const maxChange = 1_500

type Rejections = ReadonlyMap<OperationId, readonly Decision[]>

/**
 * What reviewers have said of earlier changes of an operation that they rejected, as a section for its prompts; empty for a run
 * that retries no other, and where nothing was said.
 */
export function openReviewFeedback({ ledger, objects }: FeedbackDeps) {
  const cache = openCachedAnswers<Rejections>({ max: cachedRuns, freshMs: () => freshMs })

  async function readRejections(runId: Attempt['runId']): Promise<Rejections> {
    const run = await ledger.getRun(runId)
    const chain = await chainOf(run, ledger)
    const { byChangeSet } = await ledger.readDecisions((chain.at(-1) ?? run).runId)
    const rejected = [...byChangeSet.values()].filter(
      ({ verdict, reason }) => verdict === 'rejected' && reason !== null,
    )
    return Map.groupBy(rejected, ({ operationId }) => operationId)
  }

  return async (
    { runId, projectId, operationId }: Pick<Attempt, 'runId' | 'projectId' | 'operationId'>,
    maxTokens: number,
  ) => {
    const rejections = await cache.get(runId, () => readRejections(runId))
    const last = rejections.get(operationId)?.slice(-mostShown) ?? []
    if (last.length === 0) return ''
    const entries = await Promise.all(
      last.map(async ({ changeSetId, recordHash, reason }) => {
        const sets = await getChangeSets(objects, projectId, recordHash)
        return rejectionText(
          reason ?? '',
          sets.find((set) => set.changeSetId === changeSetId),
        )
      }),
    )
    const heading = '## What a reviewer said\nYour earlier change was rejected. Make one that heeds this:'
    return boundedSection({ heading, entries, cut: 'first' }, charactersOf(maxTokens))
  }
}

function rejectionText(reason: string, set: ChangeSet | undefined): string {
  const written = set === undefined ? '' : beginningOf(textsOf(set), maxChange)
  const change = written === '' ? '' : `\n  It was said of this change:\n${fenced(written)}`
  return `- ${beginningOf(reason.trim(), maxReason)}${change}`
}

function textsOf({ files }: ChangeSet): string {
  const texts = files.flatMap((file) => {
    if (file.kind === 'edit') return file.edits.map(({ text }) => text)
    return file.kind === 'create' ? [file.content] : []
  })
  return texts.filter((text) => text.trim() !== '').join('\n')
}

/** The fence is longer than any in the text. */
function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(({ length }) => length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${text.trimEnd()}\n${fence}`
}
