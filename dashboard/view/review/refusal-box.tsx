import type { DecisionView, RefusedView } from '#schemas/decision-schema.ts'
import { wantedOf } from '../../core/review-bulk.ts'
import type { ReviewedSet } from '../../core/review-fold.ts'
import { deciderOf, nameOfChange } from '../../core/review-words.ts'
import { decideOn, decideOne, type ReviewScreen } from './review-screen.ts'

type RefusalProps = { screen: ReviewScreen; set: ReviewedSet; refused: NonNullable<ReviewedSet['refused']> }

const verbs = { accept: 'accepted', reject: 'rejected', undo: 'taken back' } as const

/** Says why a decision was not made, with both texts of a collision, and offers what can be decided instead. */
export function RefusalBox({ screen, set, refused: { wanted, by } }: RefusalProps) {
  const { decision } = by
  return (
    <div class="problem refusal" role="alert">
      <p>
        <b>Not {verbs[wanted]}.</b> {decision === undefined ? by.detail : lateWords(decision, screen.desk.me)}{' '}
        <span class="mono">{by.error_code}</span>
      </p>
      <Texts by={by} />
      <Blockers by={by} />
      <Choice screen={screen} set={set} wanted={wanted} by={by} />
    </div>
  )
}

function lateWords(decision: DecisionView, me: string): string {
  const who = deciderOf(decision, me)
  const why = decision.reason === null ? '' : `, “${decision.reason}”`
  return `${who === 'you' ? 'You have' : `${who} has`} decided otherwise meanwhile: ${decision.verdict}${why}. Decide again if you see it otherwise.`
}

function Texts({ by: { conflict } }: { by: RefusedView }) {
  const sides = [
    { name: 'this change', text: conflict?.text },
    {
      name: conflict?.with === undefined ? '' : nameOfChange({ ...conflict.with.node, agent: conflict.with.agent }),
      text: conflict?.with?.text,
    },
  ]
  if (sides.every(({ text }) => text === undefined)) return null
  return (
    <div class="columns">
      {sides.map(({ name, text }) => (
        <figure key={name}>
          <figcaption>{name}</figcaption>
          <pre>{text ?? ''}</pre>
        </figure>
      ))}
    </div>
  )
}

function Blockers({
  by: { blocked_by: blockers = [], blocked_by_count: count = blockers.length },
}: {
  by: RefusedView
}) {
  if (blockers.length === 0) return null
  return (
    <ul class="named">
      {blockers.map((one) => (
        <li key={one.change_set_id}>
          {nameOfChange(one)} <span class="quiet">{one.verdict}</span>
        </li>
      ))}
      {count > blockers.length && <li class="quiet">and {count - blockers.length} more</li>}
    </ul>
  )
}

type ChoiceProps = { screen: ReviewScreen; set: ReviewedSet; wanted: 'accept' | 'reject' | 'undo'; by: RefusedView }

/** Two changes that collide cannot both be: the other one is taken back in the same request, or nothing is. */
function Choice({ screen, set, wanted, by }: ChoiceProps) {
  const id = set.change.change_set_id
  const other = by.conflict?.with?.change_set_id
  const own = wantedOf(set, wanted)
  if (wanted === 'accept' && other !== undefined && by.error_code === 'WORK_001') {
    const undo = { change_set_id: other, verdict: 'undo' as const, version: by.with_decision?.version ?? 0 }
    return (
      <button onClick={() => void decideOn(screen, [undo, own], { all_or_none: true })}>
        Accept this one instead of the other
      </button>
    )
  }
  if (wanted !== 'accept' && by.blocked_by !== undefined) {
    const verb = wanted === 'reject' ? 'Reject' : 'Take back'
    return <button onClick={() => decideOne(screen, id, wanted, { with_dependents: true })}>{verb} these, too</button>
  }
  return null
}
