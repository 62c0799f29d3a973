import { z } from 'zod'
import { Rationale } from '#domain/agenda.ts'
import { type Event, wireEvent } from '#domain/event.ts'
import type { EventName } from '#domain/events/event-table.ts'
import type { RunId } from '#domain/ids.ts'
import { summarizeEvent } from '#domain/timeline/summarize-event.ts'
import { openCachedAnswers } from '#platform/cached-answers.ts'
import { type AgendaDecision, decisionKinds } from '#schemas/agenda-schema.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { isoTime } from '../../http/schema-parts.ts'

type Source = Pick<Ledger, 'readEvents'>
type Decided = { runId: RunId; decidedIn: readonly number[] }

/** `recordHash`: of what was said between the conductor and its model; null for a decision of a person. */
export type KnownDecision = { view: AgendaDecision; recordHash: string | null }

/** The kind of a decision whose event says no other. */
const decisionEvents: Readonly<Partial<Record<EventName, AgendaDecision['kind']>>> = {
  'agenda.decided': 'plan',
  'conductor.decided': 'dispatch',
  'objective.refined': 'refine',
  'plan.approved': 'approve',
  'objective.extended': 'extend',
}

/** Suffices for the runs that people and programs look at again and again. */
const remembered = 500
const shownCited = 20

/** Returns what was decided about the agenda of a run, in order, from the events of these numbers. Each is read once. */
export function openAgendaDecisions(ledger: Source): (run: Decided) => Promise<readonly KnownDecision[]> {
  const known = openCachedAnswers<KnownDecision[]>({ max: remembered })
  const read = async (runId: RunId, seq: number) => {
    const events = await ledger.readEvents(runId, { after: seq - 1, limit: 1 })
    return Promise.all(events.map((event) => knownDecision(event, ledger)))
  }
  return async ({ runId, decidedIn }) => {
    const decisions = decidedIn.map((seq) => known.get(`${runId} ${seq}`, () => read(runId, seq)))
    return (await Promise.all(decisions)).flat()
  }
}

const Text = z.string().nullable().catch(null)
const Said = z.object({
  kind: z.enum(decisionKinds).optional().catch(undefined),
  items: z.array(z.object({ item_id: z.string() })).catch([]),
  item_ids: z.array(z.string()).catch([]),
  rationale: Rationale.nullable().catch(null),
  plan_hash: Text,
  reason: Text,
  given: Text,
  model: Text,
  record_hash: Text,
  prompt_tokens: z.int().catch(0),
  completion_tokens: z.int().catch(0),
})

async function knownDecision(event: Event, ledger: Source): Promise<KnownDecision> {
  const { items, item_ids: ids, rationale, model, kind, plan_hash, reason, given, ...spent } = Said.parse(event.data)
  const cited = (rationale?.events ?? []).slice(0, shownCited).map((seq) => citedEvent(event.runId, seq, ledger))
  const { causationSeq: cause } = event
  const view: AgendaDecision = {
    seq: event.seq,
    follows_from: cause === undefined ? null : ((await citedEvent(event.runId, cause, ledger))[0] ?? null),
    ts: isoTime(event.ts),
    kind: kind ?? decisionEvents[event.event] ?? 'dispatch',
    summary: summarizeEvent(wireEvent(event)),
    item_ids: [...items.map(({ item_id: id }) => id), ...ids],
    plan_hash,
    rationale: rationale?.text ?? null,
    confidence: rationale?.confidence ?? null,
    cited: (await Promise.all(cited)).flat(),
    reason,
    given,
    model,
    tokens: model === null ? null : spent.prompt_tokens + spent.completion_tokens,
    decided_by: `${event.origin.kind}/${event.origin.id}`,
  }
  return { view, recordHash: spent.record_hash }
}

async function citedEvent(runId: string, seq: number, ledger: Source): Promise<AgendaDecision['cited']> {
  const events = await ledger.readEvents(runId, { after: seq - 1, limit: 1 })
  return events.map((event) => ({ seq: event.seq, summary: summarizeEvent(wireEvent(event)) }))
}
