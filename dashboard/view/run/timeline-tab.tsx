import { useEffect, useMemo, useReducer, useState } from 'preact/hooks'
import { figure } from '#domain/figure.ts'
import type { Event, Run } from '#client/wire.ts'
import type { EventPage } from '#schemas/event-schema.ts'
import type { Timeline } from '#schemas/timeline-schema.ts'
import { type EventPages, openEventPages } from '../../core/event-pages.ts'
import { Choice } from '../parts/controls.tsx'
import { At, type Fact, Facts, ProblemBox } from '../parts/shown.tsx'
import { useLoaded } from '../parts/use-loaded.ts'
import { VirtualList } from '../parts/virtual-list.tsx'
import { openRefresh } from '../../core/refresh.ts'
import { readUnasked } from '../../core/operation-list.ts'
import { totalsOf } from '../../core/run-words.ts'
import { usePage } from '../page-context.ts'
import { useRun } from './run-context.ts'
import { nodePlace } from '#domain/timeline/words.ts'
import { clockTime, roughly } from '../../core/page-time.ts'
import { silenceBefore, wordsOf } from '../../core/event-words.ts'
import type { OperationRow } from '../../core/outcome-tree.ts'
import { linkTo } from '../../core/route.ts'

/** A browser draws nothing that is higher than about 33 million pixels: of more events, a part is in the list. */
const mostRows = 1_000_000

export function TimelineTab({ run, seq }: { run: Run; seq: number | undefined }) {
  const [category, setCategory] = useState('')
  const pages = useEventPages(category, run.seq)
  useEffect(() => pages.grow(run.seq), [pages, run.seq])
  const [follows, setFollows] = useState(seq === undefined && run.ended_at === null)
  const [part, setPart] = useState(() => partOf(seq ?? run.seq))
  const { selected, setSelected, target, goTo } = useSelection(pages, (number) => {
    setFollows(false)
    setCategory('')
    setPart(partOf(number))
  })
  useEffect(() => void (seq !== undefined && goTo(seq)), [])
  const parts = Array.from({ length: partOf(pages.count()) + 1 }, (_, at) => {
    return [`${at}`, `events from ${figure(at * mostRows + 1)}`] as const
  })
  return (
    <div class="stack">
      <div class="toolbar">
        <CategoryChoice category={category} onChange={setCategory} />
        <button aria-pressed={follows} onClick={() => setFollows(!follows)}>
          {run.ended_at === null ? 'Jump to live' : 'Jump to the end'}
        </button>
        {parts.length > 1 && (
          <Choice label="Part" value={`${part}`} options={parts} onChange={(chosen) => setPart(Number(chosen))} />
        )}
        <span class="quiet">
          {figure(pages.isAtEnd() ? pages.count() : pages.count() - 1)} events
          {pages.isAtEnd() ? '' : ', and those behind them'}
        </span>
      </div>
      {pages.error() !== undefined && <ProblemBox error={pages.error()} onRetry={pages.retry} />}
      <div class={selected ? 'beside' : undefined}>
        <EventList
          key={`${category} ${part}`}
          {...{ pages, target, selected, setSelected, follows }}
          base={part * mostRows}
          onScrolledUp={() => setFollows(false)}
        />
        {selected && (
          <EventDetails event={selected} pages={pages} onGoTo={goTo} onClose={() => setSelected(undefined)} />
        )}
      </div>
    </div>
  )
}

const partOf = (seq: number) => Math.max(0, Math.floor((seq - 1) / mostRows))

/** Knows which event is selected; `goTo` scrolls to one of a list without a filter, and selects it once it is here. */
function useSelection(pages: EventPages, show: (seq: number) => void) {
  const [selected, setSelected] = useState<Event>()
  const [wanted, setWanted] = useState<number>()
  const [target, setTarget] = useState<{ index: number }>()
  const found = wanted === undefined ? undefined : pages.at(wanted - 1)
  useEffect(() => {
    if (found === undefined || found.seq !== wanted) return
    setSelected(found)
    setWanted(undefined)
  }, [found])
  const goTo = (seq: number) => {
    show(seq)
    setWanted(seq)
    setTarget({ index: (seq - 1) % mostRows })
  }
  return { selected, setSelected, target, goTo }
}

type EventListProps = {
  pages: EventPages
  /** Is the index of the first row. */
  base: number
  follows: boolean
  target: { index: number } | undefined
  selected: Event | undefined
  setSelected: (event: Event) => void
  onScrolledUp: () => void
}

function EventList({ pages, base, follows, target, selected, setSelected, onScrolledUp }: EventListProps) {
  const { operations, feed } = useRun()
  // Of a large run they are read only where somebody asks for them.
  const total = totalsOf(feed.run.value?.counts ?? {}).total
  const list = total <= readUnasked ? operations() : undefined
  return (
    <VirtualList
      count={Math.max(0, Math.min(mostRows, pages.count() - base))}
      rowHeight={eventRowHeight}
      label="Events"
      sticksToEnd={follows}
      onScrolledUp={onScrolledUp}
      target={target}
      onShown={(first, last) => pages.show(base + first, base + last)}
      row={(index) => {
        const event = pages.at(base + index)
        const isSelected = event !== undefined && event.seq === selected?.seq
        return (
          <EventRow
            event={event}
            before={pages.at(base + index - 1)}
            operation={list?.get(event?.operation_id)}
            {...{ isSelected, onSelect: setSelected }}
          />
        )
      }}
    />
  )
}

/** Events may come by the hundred in a second: more often nobody can read them. */
const drawEveryMs = 100

/** Keeps the events of a category, and draws again when there are others. */
function useEventPages(category: string, length: number): EventPages {
  const { connection } = usePage()
  const { feed, runId } = useRun()
  const [, draw] = useReducer((times: number) => times + 1, 0)
  const era = feed.era.value
  const closing = useMemo(() => new AbortController(), [])
  useEffect(() => () => closing.abort(), [])
  const pages = useMemo(() => {
    const path = `/v1/runs/${encodeURIComponent(runId)}/events`
    const isFiltered = category !== ''
    return openEventPages({
      load: (after) =>
        connection.json<EventPage>(path, { query: { after, limit: 200, category: isFiltered ? category : undefined } }),
      isFiltered,
      length,
      onChange: openRefresh(async () => draw(undefined), drawEveryMs, closing.signal),
    })
  }, [category, era])
  useEffect(
    () =>
      feed.onEvents((events) => pages.add(events.filter((event) => category === '' || event.category === category))),
    [pages],
  )
  return pages
}

function CategoryChoice({ category, onChange }: { category: string; onChange: (category: string) => void }) {
  const { connection } = usePage()
  const { runId } = useRun()
  const { value } = useLoaded(runId, (signal) =>
    connection.json<Timeline>(`/v1/runs/${encodeURIComponent(runId)}/timeline`, { query: { limit: 1 }, signal }),
  )
  const counted = Object.entries(value?.counts_by_category ?? {}).flatMap(([name, count]) =>
    count === 0 ? [] : [[name, `${name.replaceAll('_', ' ')} (${figure(count)})`] as const],
  )
  const options = [['', 'every category'] as const, ...counted]
  return <Choice label="Category" value={category} options={options} onChange={onChange} />
}

export const eventRowHeight = 26

type EventRowProps = {
  event: Event | undefined
  before: Event | undefined
  /** Is its operation, where that is known. */
  operation: OperationRow | undefined
  isSelected: boolean
  onSelect: (event: Event) => void
}

/** Shows an event as a line; the silence before it, where nothing happened for long. */
export function EventRow({ event, before, operation, isSelected, onSelect }: EventRowProps) {
  if (event === undefined) return <div class="event quiet">…</div>
  const silence = silenceBefore(event, before)
  const words = wordsOf(event)
  return (
    <button class="event" aria-pressed={isSelected} onClick={() => onSelect(event)}>
      <span class="quiet num">{event.seq}</span>
      <time class="quiet" datetime={event.ts}>
        {clockTime(event.ts)}
      </time>
      <span class="quiet cut wide">{event.category.replaceAll('_', ' ')}</span>
      <span class={event.status === 'error' ? 'cut bad' : 'cut'}>
        {silence !== undefined && <span class="badge">{roughly(silence)} nothing happened</span>} {words}{' '}
        {operation && <span class="quiet">{placeBehind(words, operation)}</span>}
      </span>
    </button>
  )
}

/** Names the node, unless the words before do. */
function placeBehind(words: string, { path, name }: OperationRow): string {
  if (!words.includes(path)) return nodePlace(path, name)
  return words.includes(name) ? '' : name
}

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
