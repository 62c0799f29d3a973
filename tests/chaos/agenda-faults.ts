import type { Event } from '#domain/event.ts'

/** Finds what is wrong with a run's decisions by its events: one plan, one answer, and each beginning of an item has one end. */
export function agendaFaults(events: readonly Event[]): string[] {
  const faults: string[] = []
  const open = new Set<string>()
  let [plans, closed] = [0, false]
  for (const { seq, event, data } of events) {
    const item = String(data['item_id'])
    const fault = (what: string) => faults.push(`event ${seq} ${event}: ${what}`)
    switch (event) {
      case 'agenda.decided':
        plans += 1
        if (plans > 1) fault('there was a plan')
        break
      case 'conductor.decided':
        if (closed) fault('the answer had been given')
        if (open.size > 0) fault(`${[...open].join(', ')} had not ended`)
        if (Number(data['requests']) > 2) fault('the model was asked more than twice')
        closed ||= data['kind'] === 'complete' || data['kind'] === 'block'
        break
      case 'item.started':
        if (closed) fault('the answer had been given')
        if (open.has(item)) fault(`${item} had begun`)
        open.add(item)
        break
      case 'item.ended':
        if (!open.delete(item)) fault(`${item} had not begun`)
        break
      default:
    }
  }
  const isCompleted = events.some(({ event }) => event === 'run.completed')
  if (isCompleted && open.size > 0) faults.push(`${[...open].join(', ')} never ended`)
  if (isCompleted && !closed) faults.push('the run completed without an answer')
  return faults
}

/** Finds what is wrong with what was asked about a run, by its events: it was taken once, and each of them has one end. */
export function askFaults(events: readonly Event[]): string[] {
  const faults: string[] = []
  const ends = new Map<string, number>()
  for (const { seq, event, data } of events) {
    const ask = String(data['ask_id'])
    const fault = (what: string) => faults.push(`event ${seq} ${event}: ${ask} ${what}`)
    const ended = ends.get(ask)
    switch (event) {
      case 'ask.received':
        if (ended !== undefined) fault('was asked before')
        ends.set(ask, ended ?? 0)
        break
      case 'ask.answered':
      case 'ask.failed':
        if (ended !== 0) fault(ended === undefined ? 'was not asked' : 'had ended')
        ends.set(ask, 1)
        break
      default:
    }
  }
  return [...faults, ...[...ends].flatMap(([ask, ended]) => (ended === 0 ? [`${ask} never ended`] : []))]
}
