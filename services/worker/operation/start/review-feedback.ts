import { chainOf } from '#composition/run-chain.ts'
import type { ChangeSet } from '#domain/change-set.ts'
import type { Decision } from '#domain/decision.ts'
import { undefinedOn } from '#domain/error.ts'
import type { OperationId, ProjectId } from '#domain/ids.ts'
import type { Attempt } from '#ledger/attempt.ts'
import type { Ledger } from '#ledger/ledger.ts'
import type { ObjectStore } from '#objects/object-store.ts'
import { getChangeSets } from '#objects/stored-records.ts'
import { openCachedAnswers } from '#platform/cached-answers.ts'
import { beginningOf } from '../../context/bounded-text.ts'
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
/** Less of a change says nothing. */
const leastChange = 80

type Rejections = ReadonlyMap<OperationId, readonly Decision[]>

/**
 * What reviewers have said of earlier changes of an operation that they rejected, as a section for its prompts; empty for a run
 * that retries no other, and where nothing was said. What they said is whole, up to 1,000 characters each; what it was said of
 * gets the rest of `maxTokens`.
 */
export function openReviewFeedback({ ledger, objects }: FeedbackDeps) {
  const cache = openCachedAnswers<Rejections>({ max: cachedRuns, freshMs: () => freshMs })

  async function readRejections(runId: Attempt['runId']): Promise<Rejections> {
    const chain = await chainOf(await ledger.getRun(runId), ledger)
    const runs = new Set(chain.map((run) => run.runId))
    const { byChangeSet } = await ledger.readDecisions(chain.at(-1)?.runId ?? runId)
    const rejected = [...byChangeSet.values()].filter(
      (one) => one.verdict === 'rejected' && one.reason !== null && runs.has(one.runId),
    )
    return Map.groupBy(rejected, ({ operationId }) => operationId)
  }

  /** Undefined when it is not there any more. */
  async function readSet(projectId: ProjectId, { changeSetId, recordHash }: Decision): Promise<ChangeSet | undefined> {
    const sets = await getChangeSets(objects, projectId, recordHash).catch(undefinedOn('STORE_003'))
    return sets?.find((set) => set.changeSetId === changeSetId)
  }

  return async (
    { runId, projectId, operationId }: Pick<Attempt, 'runId' | 'projectId' | 'operationId'>,
    maxTokens: number,
  ): Promise<string> => {
    const rejections = await cache.get(runId, () => readRejections(runId))
    const last = rejections.get(operationId)?.slice(-mostShown) ?? []
    if (last.length === 0) return ''
    const sets = await Promise.all(last.map((one) => readSet(projectId, one)))
    const reasons = last.map(({ reason }) => beginningOf((reason ?? '').trim(), maxReason))
    let left = charactersOf(maxTokens) - reasons.reduce((sum, { length }) => sum + length, 0)
    const entries = reasons.map((reason, at) => {
      const change = changeText(sets[at], left)
      left -= change.length
      return `- ${reason}${change}`
    })
    return ['## What a reviewer said', 'Your earlier change was rejected. Make one that heeds this:', ...entries].join(
      '\n',
    )
  }
}

function changeText(set: ChangeSet | undefined, room: number): string {
  const written = set === undefined || room < leastChange ? '' : beginningOf(textsOf(set), room)
  return written === '' ? '' : `\n  It was said of this change:\n${fenced(written)}`
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
