import type { Event } from '#client/wire.ts'
import type { EventPages } from '../../core/event-pages.ts'
import { wordsOf } from '../../core/event-words.ts'
import { linkTo } from '../../core/route.ts'
import { At } from '../parts/times.tsx'

type DetailsProps = {
  event: Event
  pages: EventPages
  onGoTo: (seq: number) => void
  onClose: () => void
}

/** Shows an event as a whole, what it follows from, and what follows from it. */
export function EventDetails({ event, pages, onGoTo, onClose }: DetailsProps) {
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
      <EventFacts {...{ event, pages, onGoTo }} />
      <pre class="event-data" tabIndex={0}>
        {JSON.stringify(event.data, null, 2)}
      </pre>
    </section>
  )
}

function EventFacts({ event, pages, onGoTo }: Omit<DetailsProps, 'onClose'>) {
  const cause = event.causation_seq
  const effects = pages.effectsOf(event.seq)
  return (
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
            <EventLink seq={cause} event={pages.at(cause - 1)} onGoTo={onGoTo} />
          </dd>
        </>
      )}
      {effects.length > 0 && (
        <>
          <dt>Has caused</dt>
          <dd class="stack tight">
            {effects.map((effect) => (
              <EventLink key={effect.seq} seq={effect.seq} event={effect} onGoTo={onGoTo} />
            ))}
          </dd>
        </>
      )}
    </dl>
  )
}

type EventLinkProps = {
  seq: number
  event: Event | undefined
  onGoTo: (seq: number) => void
}

/** Leads to an event, which is shown where it is here; a filtered list has another one at its place. */
function EventLink({ seq, event, onGoTo }: EventLinkProps) {
  const known = event?.seq === seq ? event : undefined
  return (
    <button class="plain link" onClick={() => onGoTo(seq)}>
      {seq} {known && wordsOf(known)}
    </button>
  )
}
