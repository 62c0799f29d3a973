import type { Event } from '#client/wire.ts'

/** Reads events after a number, of the categories that are wanted. `next_after`: the last event that was read, whether it is one of them or not. */
export type LoadEvents = (after: number) => Promise<{ events: readonly Event[]; next_after: number }>

export type EventPagesOptions = {
  load: LoadEvents
  /** Only some categories are wanted: where an event stands in the list is known once all before it were read. */
  isFiltered: boolean
  /** Is called when there are other events, more or fewer. */
  onChange: () => void
  pageSize?: number
  mostPages?: number
}

export type EventPages = ReturnType<typeof openEventPages>

/**
 * Keeps the pages of a run's events that were looked at last, so that memory is flat whatever the run's length. The events of a run are numbered
 * without gaps from 1: without a filter the event at `index` is number `index + 1`, and any page can be read at once. With one, pages are read
 * one after the other, as far as somebody scrolls.
 */
export function openEventPages({ load, isFiltered, onChange, pageSize = 200, mostPages = 100 }: EventPagesOptions) {
  /** In the order in which they were used, the last one last. */
  const pages = new Map<number, Event[]>()
  /** Of a filtered list: the event that each page follows; the last is that of the first page that was not read. */
  const starts = [0]
  let count = 0
  let readTo = 0
  let isAtEnd = !isFiltered
  let shown: readonly [number, number] = [0, -1]
  let error: unknown
  let isReading = false

  const use = (page: number, events: Event[]) => {
    pages.delete(page)
    pages.set(page, events)
    if (pages.size > mostPages)
      for (const oldest of [...pages.keys()].slice(0, pages.size - mostPages)) pages.delete(oldest)
  }

  /** Returns the first page that can be seen and is not here as a whole. */
  function missingPage(): number | undefined {
    const last = Math.min(shown[1], isAtEnd ? count - 1 : Number.POSITIVE_INFINITY)
    if (isFiltered && !isAtEnd && last >= count) return starts.length - 1
    for (let page = Math.floor(shown[0] / pageSize); page * pageSize <= last; page += 1) {
      const expected = Math.min(pageSize, count - page * pageSize)
      if ((pages.get(page)?.length ?? 0) < expected) return page
    }
    return undefined
  }

  async function readPage(page: number): Promise<void> {
    const from = isFiltered ? (starts[page] ?? 0) : page * pageSize
    const events: Event[] = []
    let after = from
    let isEmpty = false
    while (events.length < pageSize && !isEmpty) {
      const part = await load(after)
      events.push(...part.events.slice(0, pageSize - events.length))
      isEmpty = part.next_after <= after || !isFiltered
      after = part.next_after
    }
    use(page, events)
    if (!isFiltered) return void (count = Math.max(count, from + events.length))
    if (page !== starts.length - 1) return
    count = page * pageSize + events.length
    isAtEnd = events.length < pageSize
    readTo = Math.max(readTo, after)
    if (!isAtEnd) starts.push(events.at(-1)?.seq ?? after)
  }

  async function read(): Promise<void> {
    if (isReading) return
    isReading = true
    let before: number | undefined
    for (let page = missingPage(); page !== undefined && error === undefined; page = missingPage()) {
      if (page === before) break // the service has fewer than it said
      before = page
      try {
        await readPage(page)
      } catch (fault) {
        error = fault
      }
      onChange()
    }
    isReading = false
  }

  /** Adds an event that has just happened, if it comes next. */
  function add(event: Event): void {
    if (isFiltered && (!isAtEnd || event.seq <= readTo)) return
    const index = isFiltered ? count : event.seq - 1
    const page = Math.floor(index / pageSize)
    const events = pages.get(page) ?? (index % pageSize === 0 ? [] : undefined)
    if (events?.length === index % pageSize) use(page, [...events, event])
    if (isFiltered && index % pageSize === pageSize - 1) starts.push(event.seq)
    count = Math.max(count, index + 1)
    readTo = Math.max(readTo, event.seq)
  }

  return {
    /** Returns how many rows the list has; of a filtered one that was not read to its end, one more than is known. */
    count: () => (isAtEnd ? count : count + 1),
    isAtEnd: () => isAtEnd,
    kept: () => pages.size,
    error: () => error,
    at: (index: number): Event | undefined => pages.get(Math.floor(index / pageSize))?.[index % pageSize],
    /** Says which rows can be seen: what is missing of them is read. */
    show(first: number, last: number): void {
      shown = [first, last]
      for (let page = Math.floor(first / pageSize); page * pageSize <= last; page += 1) {
        const events = pages.get(page)
        if (events !== undefined) use(page, events)
      }
      void read()
    },
    /** Says how many events the run has; of an unfiltered list. */
    grow(total: number): void {
      if (isFiltered || total <= count) return
      count = total
      onChange()
      void read()
    },
    add(events: readonly Event[]): void {
      events.forEach(add)
      onChange()
      void read()
    },
    /** Returns the events that follow from one, of those that are here. */
    effectsOf(seq: number): Event[] {
      return [...pages.values()].flat().filter((event) => event.causation_seq === seq)
    },
    /** Tries again what could not be read. */
    retry(): void {
      error = undefined
      void read()
    },
  }
}
