import type { DecisionView } from '#schemas/decision-schema.ts'
import { deciderOf } from '../../core/review-words.ts'

/** Says who has decided last, when and why. */
export function DecisionLine({ decision, me }: { decision: DecisionView | null; me: string }) {
  if (decision === null) return null
  const { verdict, reason, note, decided_at: at } = decision
  const tone = verdict === 'accepted' ? 'good' : verdict === 'rejected' ? 'bad' : 'quiet'
  return (
    <p class="decision">
      <span class={tone}>
        {verdict === 'pending' ? 'Taken back' : verdict === 'accepted' ? 'Accepted' : 'Rejected'}
      </span>{' '}
      by {deciderOf(decision, me)},{' '}
      <time dateTime={at}>{new Date(at).toLocaleString([], { dateStyle: 'short', timeStyle: 'short' })}</time>
      {reason !== null && <q>{reason}</q>}
      {note !== undefined && <span class="detail quiet">{note}</span>}
    </p>
  )
}
