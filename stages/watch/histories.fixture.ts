import type { ErrorCode } from '#domain/error.ts'
import type { Event } from '#domain/event.ts'
import { type EventName, eventTable } from '#domain/events/event-table.ts'
import type { WatchWindow } from '#domain/events/watcher-events.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { openRandom, type Random } from '#platform/seeded-random.ts'
import { anEvent } from '#testing/an-event.ts'

export type TroubleKind = WatchWindow['kind']

/** A run that never was. `trouble`: what was planted, from when on, and until when it must have been noticed. */
export type History = {
  seed: number
  events: readonly Event[]
  budget: number | null
  trouble?: { kind: TroubleKind; from: number; until: number }
}

type Given = NonNullable<Parameters<typeof anEvent>[0]> & { event: EventName }
type Told = { at: number; given: Given }

const [second, minute] = [1_000, 60_000]
const begin = Date.UTC(2026, 0, 1)
/** A trouble must have been noticed when so many operations have ended after its first. */
const noticedWithin = 40

/**
 * Simulates a run of 40 to 300 operations in some slots. Also a healthy one has failures, some of them of one file after each other, wrong
 * calls, single timeouts, limits and lost workers, an hour without a model or with a question, a setup and a composition of minutes.
 */
export function aHistory(seed: number, kind?: TroubleKind): History {
  const random = openRandom(seed)
  const operations = random.int(kind === undefined ? 40 : 120, 300)
  const told: Told[] = [...beginning(random, operations)]
  const failing = random.fraction() * 0.1
  const firstBad = Math.floor(operations * 0.35)
  const badFile = random.int(0, operations)
  const free = Array.from({ length: random.int(4, 24) }, () => (told.at(-1)?.at ?? begin) + second)
  for (let index = 0; index < operations; index++) {
    const slot = free.indexOf(Math.min(...free))
    const isOfBadFile = index >= badFile && index < badFile + 4
    const trouble = index < firstBad ? undefined : kind
    const work = anOperation(random, { index, at: free[slot] ?? begin, failing: isOfBadFile ? 0.8 : failing, trouble })
    told.push(...work)
    free[slot] = (work.at(-1)?.at ?? begin) + random.int(20, 400)
  }
  told.sort((one, other) => one.at - other.at)
  const first = told.find(({ given }) => given.operationId === `o${firstBad}`) ?? told[0]
  const last = (told.at(-1)?.at ?? begin) + random.int(1, 8 * 60) * second
  told.push({ at: last, given: { event: 'run.composed' } }, { at: last + 50, given: { event: 'run.completed' } })
  const budget = budgetOf(random, { told, kind, operations })
  const due = dueOf(told, firstBad, kind === 'cost_anomaly' ? budget : null)
  const stalledAt = kind === 'stalled_run' ? pause(told, first?.at ?? begin, random.int(20, 90) * minute) : 0
  if (kind !== 'stalled_run') pauseForReason(random, told)
  const events = told.map(({ at, given }, index) => eventOf(given, at, index + 1))
  if (kind === undefined) return { seed, events, budget }
  if (kind === 'stalled_run')
    return { seed, events, budget, trouble: { kind, from: stalledAt, until: stalledAt + 16 * minute } }
  return { seed, events, budget, trouble: { kind, from: first?.at ?? begin, until: due?.at ?? Infinity } }
}

type Spending = { told: readonly Told[]; kind: TroubleKind | undefined; operations: number }

/** Half of the healthy runs have one. Where spending is the trouble, it fits what such operations usually need: four turns of 2,200 tokens. */
function budgetOf(random: Random, { told, kind, operations }: Spending): number | null {
  if (kind === 'cost_anomaly') return Math.round(operations * 4 * 2_200 * 1.3)
  const needed = told.reduce((sum, { given }) => sum + tokensOf(given.data), 0)
  return random.chance(0.5) ? Math.round(needed * (1.1 + 2 * random.fraction())) : null
}

/** Returns by when it must have been noticed: after so many ends of later operations, or before four fifths of the budget are used. */
function dueOf(told: readonly Told[], firstBad: number, budget: number | null): Told | undefined {
  let [ended, used] = [0, 0]
  return told.find(({ given }) => {
    used += tokensOf(given.data)
    if (budget !== null) return used > 0.8 * budget
    ended += given.event === 'operation.ended' && Number(given.operationId?.slice(1)) >= firstBad ? 1 : 0
    return ended > noticedWithin
  })
}

function tokensOf(data: Given['data']): number {
  return Number(data?.['prompt_tokens'] ?? 0) + Number(data?.['completion_tokens'] ?? 0)
}

function beginning(random: Random, operations: number): Told[] {
  const names = ['run.accepted', 'run.started', 'snapshot.stored', 'nodes.discovered', 'bundles.checked'] as const
  const told: Told[] = names.map((event, index) => ({
    at: begin + index * random.int(1, 10) * second,
    given: { event },
  }))
  let at = (told.at(-1)?.at ?? begin) + second
  told.push({ at, given: { event: 'run.planned', data: { operations } } })
  if (random.chance(0.2)) {
    told.push({ at, given: { event: 'setup.started' } })
    at += random.int(1, 9) * minute
    told.push({ at, given: { event: 'setup.finished' } })
  }
  return told
}

type Simulated = { index: number; at: number; failing: number; trouble: TroubleKind | undefined }

function anOperation(random: Random, { index, at: start, failing, trouble }: Simulated): Told[] {
  const head = { operationId: `o${index}`, agent: 'lint' }
  const told: Told[] = []
  let at = start
  const add = (event: EventName, data: Given['data'] = {}, more: Partial<Given> = {}) =>
    void told.push({ at, given: { event, ...head, ...more, data } })
  add('operation.queued', { dispatch: 1 })
  at += random.int(5, 200)
  add('operation.started', { attempt: 1 })
  if (random.chance(trouble === 'resource_exhaustion' ? 0.15 : 0.004)) {
    at += 30 * second
    add('operation.retried', { attempt: 1, reason: 'lost' })
    add('operation.started', { attempt: 2 })
  }
  for (let turn = 1, turns = random.int(1, 7); turn <= turns; turn++) {
    add('model.requested', { turn })
    at += random.int(300, random.chance(0.05) ? 60_000 : 6_000)
    const prompt = random.int(1_000, 3_000) * (trouble === 'cost_anomaly' ? 6 : 1)
    add('model.responded', { turn, prompt_tokens: prompt, completion_tokens: random.int(20, 400) })
    add('tool.called', { turn })
    at += random.int(5, 3_000)
    const code = toolFault(random, trouble)
    add(
      'tool.returned',
      { turn, outcome: code === undefined ? 'success' : 'error' },
      code === undefined ? {} : { errorCode: code, status: 'error' },
    )
    if (trouble === 'security_concern' && random.chance(0.03))
      add('finding.reported', { rule: random.pick(['S105', 'CWE-78', 'security/eval']) })
    if (random.chance(0.02)) add('finding.reported', { rule: random.pick(['unclosed-file', 'E501', 'SIM108']) })
  }
  const code = endFault(random, failing, trouble)
  if (code === 'AGENT_006') at += random.int(30, 240) * second
  add('submission.received')
  const status = code === undefined ? random.pick(['succeeded', 'succeeded', 'unchanged']) : 'failed'
  const coded = code === undefined ? {} : ({ errorCode: code, status: 'error' } as const)
  if (code !== undefined) add('operation.failed', {}, coded)
  add('operation.ended', { status }, coded)
  return told
}

function toolFault(random: Random, trouble: TroubleKind | undefined): ErrorCode | undefined {
  if (trouble === 'timeout_pattern' && random.chance(0.15)) return 'TOOL_003'
  if (trouble === 'security_concern' && random.chance(0.05)) return random.pick(['TOOL_007', 'TOOL_008'])
  if (trouble === 'resource_exhaustion' && random.chance(0.1)) return 'TOOL_006'
  if (random.chance(0.0005)) return 'TOOL_007'
  if (random.chance(0.004)) return 'TOOL_003'
  return random.chance(0.06) ? random.pick(['TOOL_002', 'TOOL_001', 'AGENT_009']) : undefined
}

function endFault(random: Random, failing: number, trouble: TroubleKind | undefined): ErrorCode | undefined {
  if (trouble === 'failure_spike' && random.chance(0.8)) return random.pick(['AGENT_003', 'AGENT_005', 'TOOL_004'])
  if (trouble === 'timeout_pattern' && random.chance(0.3)) return 'AGENT_006'
  if (trouble === 'resource_exhaustion' && random.chance(0.3)) return random.pick(['AGENT_007', 'AGENT_004'])
  return random.chance(failing)
    ? random.pick(['AGENT_005', 'AGENT_003', 'AGENT_011', 'AGENT_004', 'AGENT_006'])
    : undefined
}

/** Nothing happens for so long after the given time; returns when that begins. */
function pause(told: Told[], from: number, ms: number): number {
  const last = told.findLast(({ at }) => at <= from)?.at ?? from
  for (const one of told) if (one.at > from) one.at += ms
  return last
}

/** Half of the runs wait once for a model, or an answer, and say so. */
function pauseForReason(random: Random, told: Told[]): void {
  if (random.chance(0.5)) return
  const from = told[random.int(Math.floor(told.length * 0.3), Math.floor(told.length * 0.9))]?.at ?? begin
  const waited = random.int(1, 120) * minute
  const begun = pause(told, from, waited)
  const index = told.findIndex(({ at }) => at > from)
  const waiting: Told = { at: begun + 1, given: { event: 'run.waiting' } }
  told.splice(index, 0, waiting, { at: begun + waited, given: { event: 'models.back' } })
}

const samples = new Map<EventName, ReturnType<typeof anEvent>>()

function eventOf({ event, data, status = 'ok', ...given }: Given, ts: number, seq: number): Event {
  const { event: _, status: __, ...made } = getOrMake(samples, event, () => anEvent({ event }))
  const of = { v: 1, seq, ts, projectId: 'default', runId: 'r1', correlationId: 'r1', status, event } as const
  return { ...made, ...given, ...of, data: { ...made.data, ...data }, category: eventTable[event].category }
}
