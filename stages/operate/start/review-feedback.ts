import type { ChangeSet } from '#domain/change-set.ts'
import type { Decision } from '#domain/decision.ts'
import { undefinedOn } from '#domain/error.ts'
import { type OperationId, type ProjectId, recordIds } from '#domain/ids.ts'
import { originalId } from '#domain/operation.ts'
import type { Attempt } from '#store/ledger/attempt.ts'
import type { Decisions } from '#store/ledger/decisions.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { getChangeSets } from '#store/objects/stored-records.ts'
import { beginningOf, fenced } from '../context/bounded-text.ts'
import { charactersOf } from '../context/render-context.ts'
import { type DecisionsLedger, openCurrentDecisions } from './current-decisions.ts'

type FeedbackDeps = {
  ledger: DecisionsLedger
  objects: Pick<ObjectStore, 'get' | 'getRange'>
}

const mostShown = 3
const maxReason = 1_000
const leastChange = 80

type Rejections = ReadonlyMap<OperationId, readonly Decision[]>

/** Reads what reviewers said of rejected changes, whole up to 1,000 characters each; what it was said of gets the rest of `maxTokens`. */
export function openReviewFeedback({ ledger, objects }: FeedbackDeps) {
  const rejectionsIn = openCurrentDecisions(ledger, rejectionsOf)

  async function readSet(projectId: ProjectId, { changeSetId, recordHash }: Decision): Promise<ChangeSet | undefined> {
    const sets = await getChangeSets(objects, projectId, recordHash).catch(undefinedOn('STORE_003'))
    return sets?.find((set) => set.changeSetId === changeSetId)
  }

  return async (
    attempt: Pick<Attempt, 'runId' | 'projectId' | 'operationId' | 'generation' | 'repeats'>,
    maxTokens: number,
  ): Promise<string> => {
    const { runId, projectId, generation } = attempt
    if (generation === 1) return ''
    const rejections = await rejectionsIn(runId)
    const ids = recordIds(originalId(attempt), generation)
    const spoken = ids.flatMap((id) => rejections.get(id) ?? []).toSorted((left, right) => left.version - right.version)
    const last = spoken.slice(-mostShown)
    if (last.length === 0) return ''
    const sets = await Promise.all(last.map((decision) => readSet(projectId, decision)))
    const reasons = last.map(({ reason, note }) => {
      const word = (reason ?? '').trim()
      return beginningOf(note === undefined ? word : `${note}: ${word}`, maxReason)
    })
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

function rejectionsOf({ byChangeSet }: Decisions): Rejections {
  const rejected = [...byChangeSet.values()].filter(
    (decision) => decision.verdict === 'rejected' && decision.reason !== null,
  )
  return Map.groupBy(rejected, ({ operationId }) => operationId)
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
