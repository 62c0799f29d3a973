import type { Event } from '#client/wire.ts'

/** Reads events after a number, of the categories that are wanted. `next_after`: the last event that was read, whether it is one of them or not. */
export type LoadEvents = (after: number) => Promise<{ events: readonly Event[]; next_after: number }>

export type EventPagesOptions = {
  load: LoadEvents
  /** Only some categories are wanted: where an event stands in the list is known once all before it were read. */
  isFiltered: boolean
  /** Is called when there are other events, more or fewer. */
  onChange: () => void
  /** Counts the events of the run as far as is known; `grow` says more. */
  length?: number
  pageSize?: number
  mostPages?: number
}

export type EventPages = ReturnType<typeof openEventPages>

type State = Required<Omit<EventPagesOptions, 'length'>> & {
  /** Stand in the order in which they were used, the last one last. */
  pages: Map<number, Event[]>
  /** Names, of a filtered list, the event that each page follows; the last is that of the first page that was not read. */
  starts: number[]
  count: number
  readTo: number
  isAtEnd: boolean
  shown: readonly [first: number, last: number]
  error: unknown
  isReading: boolean
  /** Were told while a page was read: where it is the last one, they come behind it. */
  late: Event[]
}

/**
 * Keeps the pages of a run's events that were looked at last, so that memory is flat whatever the run's length. The events of a run are numbered
 * without gaps from 1: without a filter the event at `index` is number `index + 1`, and any page can be read at once. With one, pages are read
 * one after the other, as far as somebody scrolls.
 */
export function openEventPages(options: EventPagesOptions) {
  const state = stateOf(options)
  const { pages, pageSize, isFiltered, onChange } = state
  return {
    /** Returns how many rows the list has; of a filtered one that was not read to its end, one more than is known. */
    count: () => (state.isAtEnd ? state.count : state.count + 1),
    isAtEnd: () => state.isAtEnd,
    kept: () => pages.size,
    error: () => state.error,
    at: (index: number): Event | undefined => pages.get(Math.floor(index / pageSize))?.[index % pageSize],
    /** Says which rows can be seen: what is missing of them is read. */
    show(first: number, last: number): void {
      state.shown = [first, last]
      for (let page = Math.floor(first / pageSize); page * pageSize <= last; page += 1) {
        const events = pages.get(page)
        if (events !== undefined) keep(state, page, events)
      }
      void read(state)
    },
    /** Says how many events the run has; of an unfiltered list. */
    grow(total: number): void {
      if (isFiltered || total <= state.count) return
      state.count = total
      onChange()
      void read(state)
    },
    /** Adds what has just happened. */
    add(events: readonly Event[]): void {
      if (state.isReading) state.late.push(...events)
      for (const event of events) add(state, event)
      onChange()
      void read(state)
    },
    /** Returns the events that follow from one, of those that are here. */
    effectsOf(seq: number): Event[] {
      const effects: Event[] = []
      for (const page of pages.values()) for (const event of page) if (event.causation_seq === seq) effects.push(event)
      return effects
    },
    /** Tries again what could not be read. */
    retry(): void {
      state.error = undefined
      void read(state)
    },
  }
}

function stateOf(options: EventPagesOptions): State {
  return {
    pageSize: 200,
    mostPages: 100,
    ...options,
    pages: new Map(),
    starts: [0],
    count: options.isFiltered ? 0 : (options.length ?? 0),
    readTo: 0,
    isAtEnd: !options.isFiltered,
    shown: [0, -1],
    error: undefined,
    isReading: false,
    late: [],
  }
}

function keep({ pages, mostPages }: State, page: number, events: Event[]): void {
  pages.delete(page)
  pages.set(page, events)
  for (const oldest of [...pages.keys()].slice(0, Math.max(0, pages.size - mostPages))) pages.delete(oldest)
}

/** Returns the first page that can be seen and is not here as a whole. */
function missingPage({ shown, isFiltered, isAtEnd, count, starts, pages, pageSize }: State): number | undefined {
  const [first, lastShown] = shown
  const last = isAtEnd ? Math.min(lastShown, count - 1) : lastShown
  if (isFiltered && !isAtEnd && last >= count) return starts.length - 1
  for (let page = Math.floor(first / pageSize); page * pageSize <= last; page += 1) {
    const expected = Math.min(pageSize, count - page * pageSize)
    if ((pages.get(page)?.length ?? 0) < expected) return page
  }
  return undefined
}

async function read(state: State): Promise<void> {
  if (state.isReading) return
  state.isReading = true
  let before: number | undefined
  for (let page = missingPage(state); page !== undefined && state.error === undefined; page = missingPage(state)) {
    if (page === before) break // the service has fewer than it said
    before = page
    state.late = []
    try {
      await readPage(state, page)
      for (const event of state.late) add(state, event)
    } catch (fault) {
      state.error = fault
    }
    state.onChange()
  }
  state.isReading = false
}

async function readPage(state: State, page: number): Promise<void> {
  const { isFiltered, starts, pageSize, load } = state
  const from = isFiltered ? (starts[page] ?? 0) : page * pageSize
  const events: Event[] = []
  let after = from
  let isEnd = false
  while (events.length < pageSize && !isEnd) {
    const part = await load(after)
    events.push(...part.events.slice(0, pageSize - events.length))
    isEnd = part.next_after <= after || !isFiltered
    after = part.next_after
  }
  keep(state, page, events)
  if (!isFiltered) return void (state.count = Math.max(state.count, from + events.length))
  if (page !== starts.length - 1) return
  state.count = page * pageSize + events.length
  state.isAtEnd = events.length < pageSize
  state.readTo = Math.max(state.readTo, after)
  if (!state.isAtEnd) starts.push(events.at(-1)?.seq ?? after)
}

/** Adds an event that has just happened, if it comes next. */
function add(state: State, event: Event): void {
  const { isFiltered, pages, pageSize, starts } = state
  if (isFiltered && (!state.isAtEnd || event.seq <= state.readTo)) return
  const index = isFiltered ? state.count : event.seq - 1
  const page = Math.floor(index / pageSize)
  const events = pages.get(page) ?? (index % pageSize === 0 ? [] : undefined)
  // One that is known already stands at its place, and one that does not come next is read with its page.
  if (events?.length === index % pageSize) keep(state, page, [...events, event])
  if (isFiltered && index % pageSize === pageSize - 1) starts.push(event.seq)
  state.count = Math.max(state.count, index + 1)
  state.readTo = Math.max(state.readTo, event.seq)
}
