import type { Event } from '#client/wire.ts'
import type { EventPages } from '../../core/event-pages.ts'
import { wordsOf } from '../../core/event-words.ts'
import { linkTo } from '../../core/route.ts'
import { At } from '../parts/times.tsx'

type DetailsProps = {
  event: Event
  pages: EventPages
  onSelect: (event: Event) => void
  onGoTo: (seq: number) => void
  onClose: () => void
}

/** Shows an event as a whole, what it follows from, and what follows from it. */
export function EventDetails({ event, pages, onSelect, onGoTo, onClose }: DetailsProps) {
  const cause = event.causation_seq
  const effects = pages.effectsOf(event.seq)
  const look = (other: Event) => {
    onSelect(other)
    onGoTo(other.seq)
  }
  return (
    <section class="box event-details" aria-label={`Event ${event.seq}`}>
      <div class="row">
        <h2>
          {event.seq} {event.event}
        </h2>
        <button class="plain" onClick={onClose}>
          Close
        </button>
      </div>
      <p>{wordsOf(event)}</p>
      <dl class="facts">
        <dt>When</dt>
        <dd>
          <At ts={event.ts} />
        </dd>
        <dt>By</dt>
        <dd>
          {event.origin.kind} {event.origin.id}
        </dd>
        {event.operation_id !== undefined && (
          <>
            <dt>Operation</dt>
            <dd>
              <a href={linkTo({ page: 'operation', runId: event.run_id, operationId: event.operation_id })}>
                {event.agent} {event.operation_id}
              </a>
            </dd>
          </>
        )}
        {cause !== undefined && (
          <>
            <dt>Follows from</dt>
            <dd>
              <EventLink seq={cause} event={pages.at(cause - 1)} onLook={look} onGoTo={onGoTo} />
            </dd>
          </>
        )}
        {effects.length > 0 && (
          <>
            <dt>Has caused</dt>
            <dd class="stack tight">
              {effects.map((effect) => (
                <EventLink key={effect.seq} seq={effect.seq} event={effect} onLook={look} onGoTo={onGoTo} />
              ))}
            </dd>
          </>
        )}
      </dl>
      <pre class="event-data" tabIndex={0}>
        {JSON.stringify(event.data, null, 2)}
      </pre>
    </section>
  )
}

type EventLinkProps = {
  seq: number
  event: Event | undefined
  onLook: (event: Event) => void
  onGoTo: (seq: number) => void
}

/** Leads to an event, which is shown where it is here; a filtered list has another one at its place. */
function EventLink({ seq, event, onLook, onGoTo }: EventLinkProps) {
  const known = event?.seq === seq ? event : undefined
  return (
    <button class="plain link" onClick={() => (known === undefined ? onGoTo(seq) : onLook(known))}>
      {seq} {known && wordsOf(known)}
    </button>
  )
}
