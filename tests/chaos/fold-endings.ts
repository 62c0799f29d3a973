import type { Event } from '#domain/event.ts'

/** The endings of a run's operations by its events. It does not use the ledger's own fold, on purpose. */
export type Endings = {
  violations: string[]
  retried: number
  /** Those of the retried whose worker's lease had run out. */
  lost: number
  /** Questions that were answered. */
  answered: number
  /** How often an operation went on with what a tool that took long ended with. */
  deferred: number
  failures: { operationId: string; errorCode: string; reason: string }[]
  runEndings: string[]
}

/** `waits`: its last attempt waits for a person or for a tool that takes long; `open`: an attempt is running. */
type Seen = { open: boolean; waits: 'person' | 'tool' | undefined; ended: boolean; attempt: number }

const runEndings = new Set<string>(['run.completed', 'run.failed', 'run.blocked', 'run.cancelled'])

/** Every attempt has one end, every operation ends once, and nothing comes after an end. */
export function foldEndings(events: readonly Event[]): Endings {
  const operations = new Map<string, Seen>()
  const endings: Endings = {
    violations: [],
    retried: 0,
    lost: 0,
    answered: 0,
    deferred: 0,
    failures: [],
    runEndings: [],
  }
  for (const [at, event] of events.entries()) {
    if (event.seq !== at + 1) endings.violations.push(`event ${event.seq} stands at place ${at + 1}`)
    if (runEndings.has(event.event)) endings.runEndings.push(event.event)
    const id = event.operationId
    if (id === undefined) continue
    const seen = operations.get(id) ?? { open: false, waits: undefined, ended: false, attempt: 0 }
    operations.set(id, seen)
    const fault = take(event, seen)
    if (fault !== undefined) endings.violations.push(`event ${event.seq} ${event.event} of ${id}: ${fault}`)
    if (event.event === 'operation.retried') endings.retried += 1
    if (event.event === 'operation.retried' && event.data['reason'] === 'lost') endings.lost += 1
    if (event.event === 'operation.resumed') endings[awaitedOf(event) === 'tool' ? 'deferred' : 'answered'] += 1
    if (event.event === 'operation.failed') endings.failures.push({ operationId: id, ...failureOf(event) })
  }
  for (const [id, { open }] of operations) if (open) endings.violations.push(`an attempt of ${id} has no end`)
  if (endings.runEndings.length > 1) endings.violations.push(`the run ended as ${endings.runEndings.join(' and ')}`)
  return endings
}

/** Applies the event to `seen`; returns what is wrong with it. */
function take(one: Event, seen: Seen): string | undefined {
  const { event } = one
  if (seen.ended) return 'the operation had ended'
  switch (event) {
    case 'operation.started': {
      const { open: wasOpen, waits } = seen
      seen.open = true
      seen.attempt += 1
      if (waits !== undefined) return `its ${waits} has not answered`
      return wasOpen ? 'the attempt before it has no end' : undefined
    }
    case 'operation.retried':
    case 'operation.suspended': {
      const wasOpen = seen.open
      seen.open = false
      seen.waits = event === 'operation.suspended' ? awaitedOf(one) : undefined
      return wasOpen ? undefined : 'no attempt was under way'
    }
    case 'operation.resumed': {
      const { waits } = seen
      seen.waits = undefined
      return waits === awaitedOf(one) ? undefined : `it waited for no ${awaitedOf(one)}`
    }
    case 'operation.ended':
    case 'operation.skipped': {
      const wasOpen = seen.open
      seen.open = false
      seen.ended = true
      // One that nobody answered in time is ended without another attempt.
      if (event === 'operation.ended')
        return wasOpen || seen.waits !== undefined ? undefined : 'no attempt was under way'
      return wasOpen ? 'an attempt was under way' : undefined
    }
    default:
      return undefined
  }
}

function awaitedOf({ data }: Event): 'person' | 'tool' {
  return data['reason'] === 'tool' ? 'tool' : 'person'
}

function failureOf({ errorCode, data }: Event): { errorCode: string; reason: string } {
  const textOf = (name: string) => (typeof data[name] === 'string' ? data[name] : `no ${name}`)
  return { errorCode: errorCode ?? textOf('error_code'), reason: textOf('reason') }
}
