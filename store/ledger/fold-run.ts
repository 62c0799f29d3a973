import { z } from 'zod'
import { Verdict } from '#domain/decision.ts'
import type { Event } from '#domain/event.ts'
import { causesOf, type EventName } from '#domain/events/event-table.ts'
import { endedRunStatuses, isEnded, type Run } from '#domain/run.ts'
import type { Violation } from './accounts.ts'
import type { Decisions, VerdictCounts } from './decisions.ts'

const afterTheEnd: ReadonlySet<string> = new Set([
  'decision.made',
  'publication.opened',
  'publication.updated',
  'publication.ended',
  'publication.refused',
  'publication.failed',
  'ask.received',
  'ask.answered',
  'ask.failed',
])
const endings: ReadonlySet<string> = new Set(endedRunStatuses.map((status) => `run.${status}`))

const StartedData = z.object({ generation: z.int() })

/**
 * Checks the events of the run itself: accepted first and once, started once at most in each generation, and one end, after
 * which come only decisions, asks, publication and a reopening, with which it begins anew (invariant 3). Its generation is what these
 * events make of it (invariant 2).
 */
export function foldRun() {
  let seen: { name: string; seq: number }[] = []
  let last: Event | undefined
  let events = 0
  let generation = 1
  const early: string[] = []

  function take(event: Event): void {
    if (afterTheEnd.has(event.event)) return // people decide and ask, and the publisher publishes, as long as the run is kept
    if (event.event === 'run.reopened') {
      if (!seen.some(({ name }) => endings.has(name)))
        early.push(`event ${event.seq} run.reopened: the run had not ended`)
      seen = seen.filter(({ name }) => name === 'run.accepted')
    }
    if (event.event === 'run.reopened' || event.event === 'operations.repeated') generation += 1
    if (event.event === 'item.started') generation = StartedData.parse(event.data).generation
    events += 1
    last = event
    const counts = event.event === 'run.accepted' || event.event === 'run.started' || endings.has(event.event)
    if (counts) seen.push({ name: event.event, seq: event.seq })
  }

  function violations(run: Pick<Run, 'status' | 'generation'>): Violation[] {
    const { status } = run
    const times = (name: string) => seen.filter((event) => event.name === name).length
    const ends = seen.filter((event) => endings.has(event.name))
    const end = isEnded(status) ? `run.${status}` : undefined
    const faults = [...early]
    if (times('run.accepted') !== 1) faults.push(`the events have run.accepted ${times('run.accepted')} times`)
    else if (seen[0]?.name !== 'run.accepted') faults.push('run.accepted is not the first event of the run')
    if (times('run.started') > 1) faults.push(`the events have run.started ${times('run.started')} times`)
    const neverBegan = status === 'cancelled' && events <= 2
    if (end !== undefined && !neverBegan && generation === 1 && times('run.started') === 0)
      faults.push('the run has ended, its events have no run.started')
    if (end === undefined && ends.length > 0) faults.push(`the run is ${status}, its events have ${namesOf(ends)}`)
    if (end !== undefined && (ends.length !== 1 || ends[0]?.name !== end)) {
      faults.push(`the run is ${status}, its events have ${namesOf(ends)} instead of ${end}`)
    }
    const lastEnd = ends.at(-1)
    if (lastEnd !== undefined && last !== undefined && last.seq !== lastEnd.seq) {
      faults.push(`event ${last.seq} ${last.event} comes after ${lastEnd.name}, the end of the run`)
    }
    const ofEvents = faults.map((message): Violation => ({ invariant: 3, message }))
    if (run.generation === generation) return ofEvents
    const message = `the run is in generation ${run.generation}, its events in generation ${generation}`
    return [...ofEvents, { invariant: 2, message }]
  }

  return { take, violations }
}

function namesOf(ends: readonly { name: string }[]): string {
  return ends.length === 0 ? 'no end' : ends.map(({ name }) => name).join(' and ')
}

const DecisionData = z.object({ change_set_id: z.string(), verdict: Verdict, retry: z.literal(true).optional() })

/** Compares the decisions that are kept in a run with those that its events report (invariant 2). */
export function foldDecisions() {
  const made = new Map<string, ShownDecision>()
  let last = 0

  function take({ event, seq, data }: Event): void {
    if (event !== 'decision.made') return
    const { change_set_id: changeSetId, verdict, retry } = DecisionData.parse(data)
    made.set(changeSetId, { verdict, version: seq, retry })
    last = seq
  }

  function violations(kept: Decisions, counted: ReadonlyMap<string, VerdictCounts>): Violation[] {
    const faults = kept.last === last ? [] : [`the last decision is event ${last}, the run has counted ${kept.last}`]
    faults.push(...counterFaults(kept, counted))
    for (const changeSetId of new Set([...made.keys(), ...kept.byChangeSet.keys()])) {
      const [is, said] = [shown(kept.byChangeSet.get(changeSetId)), shown(made.get(changeSetId))]
      if (is !== said) faults.push(`change set ${changeSetId} is ${is}, its events say ${said}`)
    }
    return faults.map((message) => ({ invariant: 2, message }))
  }

  return { take, violations }
}

function counterFaults({ byChangeSet }: Decisions, counted: ReadonlyMap<string, VerdictCounts>): string[] {
  const byAgent = Map.groupBy(byChangeSet.values(), ({ agent }) => agent)
  return [...new Set([...byAgent.keys(), ...counted.keys()])].flatMap((agent) =>
    (['accepted', 'rejected'] as const).flatMap((verdict) => {
      const folded = byAgent.get(agent)?.filter((decision) => decision.verdict === verdict).length ?? 0
      const stored = counted.get(agent)?.[verdict] ?? 0
      return folded === stored ? [] : [`${stored} change sets of ${agent} are counted as ${verdict}, ${folded} are`]
    }),
  )
}

/** `retry`: a retry is wanted, in whatever run. */
type ShownDecision = { verdict: Verdict; version: number; retry?: unknown }

function shown(decision: ShownDecision | undefined): string {
  if (decision === undefined) return 'undecided'
  const { verdict, version, retry } = decision
  return `${verdict} by event ${version}${retry === undefined ? '' : ', to be tried again'}`
}

/** Compares how often each event is counted with the events (invariant 2). */
export function foldTally() {
  const times = new Map<string, number>()
  const take = ({ event }: Event) => void times.set(event, (times.get(event) ?? 0) + 1)

  function violations(counted: ReadonlyMap<string, number>): Violation[] {
    return [...new Set([...times.keys(), ...counted.keys()])].flatMap((name) => {
      const [is, folded] = [counted.get(name) ?? 0, times.get(name) ?? 0]
      return is === folded ? [] : [{ invariant: 2, message: `${is} events ${name} are counted, the run has ${folded}` }]
    })
  }

  return { take, violations }
}

/** Every cause is an earlier event, and one that this kind of event may follow from (invariant 1). */
export function foldCauses() {
  const names = new Map<number, EventName>()
  const violations: Violation[] = []

  function take({ event, seq, causationSeq }: Event): void {
    if (causes.has(event)) names.set(seq, event)
    if (causationSeq === undefined) return
    const cause = names.get(causationSeq)
    if (causationSeq < seq && cause !== undefined && causesOf[event]?.includes(cause) === true) return
    const what = cause ?? 'which no event follows from or is not there before'
    violations.push({ invariant: 1, message: `event ${seq} ${event} follows from event ${causationSeq}, ${what}` })
  }

  return { take, violations }
}

const causes = new Set(Object.values(causesOf).flat())

/** After these an operation has no open request to a model. */
const closing = new Set(['model.responded', 'operation.suspended', 'operation.ended', 'operation.retried'])

/** Every `model.requested` has one `model.responded` before the next (invariant 3), but for lost attempts. */
export function foldModelCalls() {
  const openRequests = new Map<string, number>()
  const violations: Violation[] = []

  function take(event: Event): void {
    const id = event.operationId
    if (id === undefined) return
    const open = openRequests.get(id)
    const blame = (what: string) =>
      void violations.push({ invariant: 3, message: `event ${event.seq} ${event.event} of operation ${id}: ${what}` })
    const { event: name, data } = event
    // A worker that settled the attempt gave the number of turns, which the ledger does not know.
    const isSettled = name === 'operation.ended' && data['turns'] !== undefined
    const isDue = name === 'model.requested' || name === 'operation.suspended' || isSettled
    if (open !== undefined && isDue) blame(`the request of event ${open} was not answered`)
    if (open === undefined && name === 'model.responded') blame('it answers no request')
    if (name === 'model.requested') openRequests.set(id, event.seq)
    else if (closing.has(name)) openRequests.delete(id)
  }

  return { take, violations }
}
