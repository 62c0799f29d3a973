import type { AgendaState, ItemId } from '#domain/agenda.ts'
import { type ErrorCode, unreachable } from '#domain/error.ts'
import type { EventOrigin, NewEvent } from '#domain/event.ts'
import type { EventData } from '#domain/events/event-table.ts'
import type { StepCommit } from '#store/ledger/conductor-steps.ts'
import type { DecisionRecord } from '#store/objects/decision-record.ts'
import { planHash } from './agenda-rules.ts'
import { applyDecision, beginReady, type Decided, over } from './apply-decision.ts'
import type { PlannerDecision } from './decision-faults.ts'

/** What a step makes of the agenda: a commit, without what the claim says. */
export type StepOutcome = Pick<StepCommit, 'state' | 'dispatch' | 'estimate' | 'close' | 'waits'> & {
  events: readonly NewEvent[]
}

type Recorded = { record: DecisionRecord; hash: string }

/** `isDry`: items are only counted. */
type How = Omit<Decided, 'model'> & { isDry: boolean; origin: EventOrigin }

/** Returns what a recorded answer does: the decision, its event and the items that may begin with it; or the end of the run, where it is none. */
export function outcomeOfDecision(before: AgendaState, { record, hash }: Recorded, how: How): StepOutcome {
  const { outcome, model } = record
  const evidence = evidenceOf(record, hash)
  if (outcome.kind === 'invalid') {
    const { reason, given } = outcome
    const event = {
      event: 'conductor.decided',
      ...ofConductor(how.origin),
      status: 'error',
      errorCode: 'POLICY_002',
    } as const
    const data = { kind: 'invalid' as const, reason, given, ...evidence }
    return { ...blocked(before, 'POLICY_002', `no valid decision: ${reason}`), events: [{ ...event, data }] }
  }
  const { decision } = outcome
  const { state: decided, begin, close } = applyDecision(before, decision, { ...how, model })
  const event = causedBy(before, eventOf(decision, decided, evidence, how.origin))
  if (close !== undefined) return { state: decided, dispatch: [], close, events: [event] }
  const estimate = how.isDry || decided.approval !== null ? uncounted(before, decided) : []
  const begun = how.isDry ? { state: decided, dispatch: [] } : beginReady(decided, begin)
  return { ...begun, estimate: estimate.filter((id) => !begun.dispatch.includes(id)), events: [event] }
}

/** Ends a run whose conductor cannot go on. */
export function blocked(state: AgendaState, code: ErrorCode, reason: string): Omit<StepOutcome, 'events'> {
  return { state: over(state), dispatch: [], close: { kind: 'blocked', code, reason } }
}

/** Names the items whose operations nobody has counted, so that whoever approves the plan sees what it costs. */
function uncounted(before: AgendaState, { items }: AgendaState): ItemId[] {
  const known = new Set(before.items.map((item) => item.item_id))
  return items.flatMap(({ item_id: id, status }) => (status === 'waiting' && !known.has(id) ? [id] : []))
}

export function ofConductor(origin: EventOrigin) {
  return { phase: 'execution', origin } as const
}

type Evidence = Omit<EventData<'agenda.decided'>, 'items' | 'plan_hash' | 'rationale'>

function evidenceOf({ model, promptHash, schemaHash, exchanges, usage }: DecisionRecord, hash: string): Evidence {
  return {
    model,
    prompt_hash: promptHash,
    schema_hash: schemaHash,
    record_hash: hash,
    requests: exchanges.length,
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
  }
}

/** How the run goes on after an escalation follows from that, so that the watcher knows what it has caused. */
function causedBy({ heard = [] }: AgendaState, event: NewEvent): NewEvent {
  const raised = heard.findLast((message) => message.kind === 'escalation')
  if (event.event !== 'conductor.decided' || raised?.seq === undefined) return event
  return { ...event, causationSeq: raised.seq }
}

function eventOf(decision: PlannerDecision, { items }: AgendaState, evidence: Evidence, origin: EventOrigin): NewEvent {
  const head = ofConductor(origin)
  const { rationale, kind } = decision
  const why = { rationale, ...evidence }
  const plan_hash = planHash(items)
  switch (kind) {
    case 'plan':
      return { event: 'agenda.decided', ...head, data: { items: decision.items, plan_hash, ...why } }
    case 'refine': {
      const { objective, items: added } = decision
      return { event: 'objective.refined', ...head, data: { objective, items: added, plan_hash, ...why } }
    }
    case 'dispatch':
      return { event: 'conductor.decided', ...head, data: { kind, item_ids: decision.item_ids, plan_hash, ...why } }
    case 'retry':
      return { event: 'conductor.decided', ...head, data: { kind, item_ids: [decision.item_id], ...why } }
    case 'follow_up':
      return { event: 'conductor.decided', ...head, data: { kind, items: decision.items, plan_hash, ...why } }
    case 'complete':
      return { event: 'conductor.decided', ...head, data: { kind, answer: decision.answer, ...why } }
    case 'block':
      return { event: 'conductor.decided', ...head, data: { kind, reason: decision.reason, ...why } }
    default:
      return unreachable(decision)
  }
}
