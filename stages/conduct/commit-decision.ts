import type { AgendaState, ItemId } from '#domain/agenda.ts'
import type { ErrorCode } from '#domain/error.ts'
import type { EventOrigin, NewEvent } from '#domain/event.ts'
import type { EventData } from '#domain/events/event-table.ts'
import type { StepCommit } from '#store/ledger/conductor-steps.ts'
import type { DecisionRecord, PlannerQuestion } from '#store/objects/decision-record.ts'
import { planHash } from './agenda-rules.ts'
import { applyDecision, beginReady, type Decided, over } from './apply-decision.ts'
import type { PlannerDecision } from './decision-faults.ts'

/** What a step makes of the agenda: a commit, without what the claim says. */
export type StepOutcome = Pick<StepCommit, 'state' | 'dispatch' | 'estimate' | 'close' | 'waits'> & {
  events: readonly NewEvent[]
}

type Recorded = { record: DecisionRecord; hash: string }

/** `isDry`: items are only counted. `decidedBy`: the event of the decision before. */
type How = Omit<Decided, 'model'> & { isDry: boolean; decidedBy: number | undefined; origin: EventOrigin }

/** Returns what a recorded answer does: the decision, its event and the items that may begin with it; or the end of the run, where it is none. */
export function outcomeOfDecision(before: AgendaState, { record, hash }: Recorded, how: How): StepOutcome {
  const { outcome, model } = record
  const evidence = evidenceOf(record, hash)
  const cause = causeOf(before, record.question) ?? how.decidedBy
  const head = { ...ofConductor(how.origin), ...(cause !== undefined && { causationSeq: cause }) }
  if (outcome.kind === 'invalid') {
    const { reason, given } = outcome
    const event = { event: 'conductor.decided', ...head, status: 'error', errorCode: 'POLICY_002' } as const
    const data = { kind: 'invalid' as const, reason, given, ...evidence }
    return { ...blocked(before, 'POLICY_002', `no valid decision: ${reason}`), events: [{ ...event, data }] }
  }
  const { decision } = outcome
  const { state: decided, begin, close } = applyDecision(before, decision, { ...how, model })
  const event = eventOf(decision, decided, evidence, head)
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

/**
 * Returns the event that a decision follows from: what was said, where it takes that in; an escalation that it is told of, so that the watcher
 * knows what it has caused; else what was heard last.
 */
function causeOf({ heard = [], cause }: AgendaState, question: PlannerQuestion): number | undefined {
  const about = question === 'refine' ? 'said' : 'escalation'
  return heard.findLast(({ kind }) => kind === about)?.seq ?? cause ?? heard.at(-1)?.seq
}

type Head = ReturnType<typeof ofConductor> & Pick<NewEvent, 'causationSeq'>

/** Writes down what was decided, and the hash of the plan as it is with that. */
function eventOf(decision: PlannerDecision, state: AgendaState, evidence: Evidence, head: Head): NewEvent {
  const why = { plan_hash: planHash(state), ...evidence }
  switch (decision.kind) {
    case 'plan':
      return {
        event: 'agenda.decided',
        ...head,
        data: { items: decision.items, rationale: decision.rationale, ...why },
      }
    case 'refine': {
      const { kind: _, ...refined } = decision
      return { event: 'objective.refined', ...head, data: { ...refined, ...why } }
    }
    case 'retry': {
      const { item_id: id, ...retry } = decision
      return { event: 'conductor.decided', ...head, data: { ...retry, item_ids: [id], ...why } }
    }
    default:
      return { event: 'conductor.decided', ...head, data: { ...decision, ...why } }
  }
}
