import type { ChangeView } from '#schemas/change-schema.ts'
import type { DecisionsView } from '#schemas/decision-schema.ts'
import { aChangeSet, answer } from '../answers.fixture.ts'
import type { SeenDecision } from '../api-client.ts'
import type { Where } from '../run/change-conditions.ts'
import { openPaint } from '../terminal-text.ts'
import { charactersOf } from './fold-text.ts'
import { renderReview } from './render-review.ts'
import { type Effect, type Progress, type ReviewEvent, type ReviewState, startReview } from './review-state.ts'
import { takeEvent } from './take-answer.ts'

/** A diff that adds a line to ten. */
export function tenLineDiff(path: string, added: string): string {
  const line = (at: number) => ` line ${at}\n`
  const lines = Array.from({ length: 10 }, (_none, at) => line(at + 1))
  return [
    `diff --git a/${path} b/${path}\nindex 1..2\n--- a/${path}\n+++ b/${path}\n@@ -1,10 +1,11 @@\n`,
    ...lines.slice(0, 5),
    `+${added}\n`,
    ...lines.slice(5),
  ].join('')
}

/** `id` is any short text. */
export function aChange(id: string, more: Readonly<Record<string, unknown>> = {}): ChangeView {
  return aChangeSet({
    change_set_id: id,
    operation_id: `o-${id}`,
    qualified_name: id,
    diff: tenLineDiff('a.py', `by ${id}`),
    evidence: [{ check: 'parses', path: 'a.py', ok: true }],
    ...more,
  })
}

export const somebody = {
  verdict: 'rejected',
  version: 7,
  reason: 'not so',
  decided_at: '2026-05-01T12:30:00Z',
  decided_by: 'human/t0',
}

/** The answer to decisions that were all made. */
export function madeDecisions(
  ...made: { id: string; verdict: string; was?: string; reason?: string }[]
): DecisionsView {
  const decisions = made.map(({ id, verdict, was = 'pending', reason = null }) => ({
    change_set_id: id,
    operation_id: `o-${id}`,
    agent: 'lint',
    path: 'a.py',
    qualified_name: id,
    verdict,
    was,
    made: true,
    decision: { verdict, version: 3, reason, decided_at: '2026-05-01T12:30:00Z', decided_by: 'human/me' },
  }))
  const nothing = { by_agent: {}, decisions: [], left_alone: 0, retry: null, refused_count: 0, refused: [] }
  return answer<DecisionsView>({ run_id: 'r1', made: made.length, ...nothing }, { decisions })
}

type ReviewOptions = { columns?: number; rows?: number; where?: Where }

/** A review without a terminal or a service: its tests press keys and give the answers. */
export function openReview({ columns = 60, rows = 24, where = { verdict: 'pending' } }: ReviewOptions = {}) {
  const begun = startReview({ runId: 'r1', agents: ['lint', 'docstring'], size: { columns, rows }, where })
  let state: ReviewState = begun.state
  let effects: readonly Effect[] = begun.effects
  const take = (event: ReviewEvent) => {
    const step = takeEvent(state, event)
    state = step.state
    effects = step.effects
  }
  const press = (...keys: string[]) => {
    for (const key of keys) {
      const text = charactersOf(key).length === 1 ? key : ''
      take({ kind: 'key', key: { name: text === '' ? key : key.toLowerCase(), text } })
    }
  }
  return {
    take,
    press,
    state: () => state,
    /** Of the last step. */
    effects: () => effects,
    kinds: () => effects.map(({ kind }) => kind),
    /** The first effect of the last step could not be had. */
    fail(message: string) {
      const [effect] = effects
      if (effect !== undefined) take({ kind: 'failed', effect, message })
    },
    screen: () => renderReview(state, openPaint(false)).join('\n'),
    list: (changes: readonly ChangeView[], about: { next?: string; run?: Progress } = {}) =>
      take({ kind: 'listed', where: state.where, changes, next: null, run: 'ended', ...about }),
    /** The decisions that the last step sends. */
    sent(): readonly SeenDecision[] {
      const [decide] = effects.filter((effect) => effect.kind === 'decide')
      return decide?.decisions ?? []
    },
    answer(given: Readonly<Record<string, unknown>>) {
      const [decide] = effects.filter((effect) => effect.kind === 'decide')
      take({ kind: 'decided', wanted: decide ?? { decisions: [] }, answer: answer(madeDecisions(), given) })
    },
  }
}

export const threeChanges = () => [aChange('one'), aChange('two'), aChange('three')]

/** A review whose list is there. */
export function reviewing(changes = threeChanges(), { run = 'ended', ...options }: Reviewing = {}) {
  const review = openReview(options)
  review.list(changes, { run })
  return review
}
type Reviewing = ReviewOptions & { run?: Progress }
