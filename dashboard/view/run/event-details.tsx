import type { Event } from '#client/wire.ts'
import type { EventPages } from '../../core/event-pages.ts'
import { wordsOf } from '../../core/event-words.ts'
import { linkTo } from '../../core/route.ts'
import { type Fact, Facts } from '../parts/facts.tsx'
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
  const { causation_seq: cause, operation_id: operationId, origin } = event
  const effects = pages.effectsOf(event.seq)
  const facts: Fact[] = [
    ['When', <At ts={event.ts} />],
    ['By', `${origin.kind} ${origin.id}`],
    [
      'Operation',
      operationId !== undefined && (
        <a href={linkTo({ page: 'operation', runId: event.run_id, operationId })}>
          {event.agent} {operationId}
        </a>
      ),
    ],
    ['Follows from', cause !== undefined && <EventLink seq={cause} event={pages.at(cause - 1)} onGoTo={onGoTo} />],
    [
      'Has caused',
      effects.length > 0 &&
        effects.map((effect) => <EventLink key={effect.seq} seq={effect.seq} event={effect} onGoTo={onGoTo} />),
    ],
  ]
  return <Facts facts={facts} />
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
