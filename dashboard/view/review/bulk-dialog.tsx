import { figure } from '#domain/figure.ts'
import { plural } from '#domain/timeline/words.ts'
import { useState } from 'preact/hooks'
import type { WantedVerdict } from '#schemas/decision-schema.ts'
import { type BulkPlan, planBulk } from '../../core/review-bulk.ts'
import type { ReviewedSet } from '../../core/review-fold.ts'
import { nameOfChange } from '../../core/review-words.ts'
import { Modal } from '../parts/controls.tsx'
import { decideOn, type ReviewScreen } from './review-screen.ts'

export const bulkVerbs = { accept: 'Accept', reject: 'Reject', undo: 'Take back' } as const
const done = { accept: 'accepted', reject: 'rejected', undo: 'pending' } as const
/** The dialog names so many change sets, and counts the rest. */
const mostNamed = 50

type BulkProps = { screen: ReviewScreen; verdict: WantedVerdict; onClose: () => void }

/** Says exactly what one verdict on all that is shown would do, and does it. The plan stays as it was when it was shown. */
export function BulkDialog({ screen, verdict, onClose }: BulkProps) {
  const { shown, desk } = screen
  const [plan] = useState(() => planBulk(verdict, shown.value, desk.sets.value))
  const [reason, setReason] = useState('')
  const [progress, setProgress] = useState<number>()
  const send = async () => {
    setProgress(0)
    const said = reason.trim() === '' ? {} : { reason: reason.trim() }
    const wanted = plan.wanted.map((one) => ({ ...one, ...said }))
    await decideOn(screen, wanted, { onProgress: setProgress })
    onClose()
  }
  const what = plural(plan.wanted.length, 'change')
  return (
    <Modal title={`${bulkVerbs[verdict]} what is shown`} onClose={onClose}>
      <PlanLists plan={plan} />
      {desk.list.value.kind !== 'whole' && (
        <p class="warn">The list is not read to its end: only what was read is decided on.</p>
      )}
      {verdict === 'reject' && plan.wanted.length > 0 && (
        <label class="field">
          Why, for people and for a later retry
          <textarea
            value={reason}
            maxLength={2000}
            rows={2}
            onInput={(event) => setReason(event.currentTarget.value)}
          />
        </label>
      )}
      <div class="row">
        <button onClick={onClose}>Leave them as they are</button>
        <button
          class="primary"
          disabled={plan.wanted.length === 0 || progress !== undefined}
          onClick={() => void send()}
        >
          {progress === undefined ? `${bulkVerbs[verdict]} ${what}` : `${figure(progress)} of ${what} …`}
        </button>
      </div>
    </Modal>
  )
}

function PlanLists({ plan }: { plan: BulkPlan }) {
  const { verdict, wanted, agents, failing, unchecked, already, otherwise, leftOut, withThem } = plan
  return (
    <>
      <p>
        <b>{plural(wanted.length, 'change')}</b> will be {done[verdict]}
        {agents.size > 0 && `: ${[...agents].map(([agent, count]) => `${figure(count)} of ${agent}`).join(', ')}`}.
      </p>
      {verdict === 'accept' && failing > 0 && (
        <p class="bad">Of these, {plural(failing, 'change')} did not pass every check.</p>
      )}
      {verdict === 'accept' && unchecked > 0 && (
        <p class="warn">Of these, {plural(unchecked, 'change')} could not be checked in full.</p>
      )}
      {withThem.length > 0 && (
        <Named
          title={`${plural(withThem.length, 'change')} that they are built on will be accepted, too`}
          sets={withThem.map((set) => ({ set, why: '' }))}
        />
      )}
      {leftOut.length > 0 && (
        <Named title={`${plural(leftOut.length, 'change')} will be left for you to decide on`} sets={leftOut} />
      )}
      {otherwise > 0 && <p class="quiet">Left as decided before: {plural(otherwise, 'change')}.</p>}
      {already > 0 && (
        <p class="quiet">
          {plural(already, 'change')} {already === 1 ? 'is' : 'are'} {done[verdict]} already.
        </p>
      )}
    </>
  )
}

function Named({ title, sets }: { title: string; sets: readonly { set: ReviewedSet; why: string }[] }) {
  return (
    <details open={sets.length <= 5}>
      <summary>{title}</summary>
      <ul class="named">
        {sets.slice(0, mostNamed).map(({ set, why }) => (
          <li key={set.change.change_set_id}>
            {nameOfChange(set.change)}
            {why !== '' && <span class="quiet">: {why}</span>}
          </li>
        ))}
        {sets.length > mostNamed && <li class="quiet">and {sets.length - mostNamed} more</li>}
      </ul>
    </details>
  )
}
