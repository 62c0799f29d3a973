import type { AgendaState, InboxMessage, ItemState } from '#domain/agenda.ts'
import type { BundleFile } from '#domain/agent-bundle.ts'
import { type Event, wireEvent } from '#domain/event.ts'
import type { EventName } from '#domain/events/event-table.ts'
import type { Run } from '#domain/run.ts'
import { summarizeEvent } from '#domain/timeline/summarize-event.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { PlannerQuestion } from '#store/objects/decision-record.ts'
import { openNodeLists } from '#store/objects/node-list.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { oneLine } from '#stages/operate/context/bounded-text.ts'
import { verdictOn } from './agenda-rules.ts'
import { hasBegun } from './decision-faults.ts'

export type Capability = Pick<BundleFile, 'name' | 'description' | 'languages' | 'node_kinds'>

export type Asked = { run: Run; state: AgendaState; question: PlannerQuestion; capabilities: readonly Capability[] }

export type ViewDeps = {
  ledger: Pick<Ledger, 'readEvents' | 'countFailures'>
  objects: Pick<ObjectStore, 'get' | 'getRange'>
}

/**
 * Puts together what the model is told of a run: counts, the commonest faults and the last events that matter. Nothing of it grows with the
 * number of operations.
 */
export async function plannerView({ run, state, question, capabilities }: Asked, deps: ViewDeps) {
  const { agents, paths = null, languages = null, limits } = run.request
  return {
    question,
    objective: state.objective,
    asked: { agents: agents.length === 0 ? null : agents, paths, languages, limits },
    capabilities: capabilities.map(({ name, description, languages: own, node_kinds: kinds }) => {
      return { name, description, languages: own, node_kinds: kinds }
    }),
    repository: await repositoryView(run, deps),
    agenda: state.items.map(itemView),
    decisions: state.decisions,
    decisions_without_progress: state.fruitless,
    heard: (state.heard ?? []).map(heardView),
    faults: await commonestFaults(run, deps),
    events: await notableEvents(run, ({ event }) => notable.has(event), deps),
  }
}

const mostFolders = 30
/** A page of 2,000 nodes takes about 30 ms of CPU. */
const mostCounted = 20_000

/** Counts the code nodes by language, kind and folder, so that a plan can name what is there. */
export async function repositoryView({ projectId, runId, nodeListKey, nodes, files }: Run, { objects }: ViewDeps) {
  const [languages, kinds, folders] = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()]
  let counted = 0
  if (nodeListKey !== null) {
    for await (const node of openNodeLists(objects).all({ projectId, runId, hash: nodeListKey })) {
      if (counted === mostCounted) break
      counted += 1
      addTo(languages, node.language)
      addTo(kinds, node.kind)
      addTo(folders, folderOf(node.path))
    }
  }
  const counts = { languages: commonest(languages), kinds: commonest(kinds), folders: commonest(folders) }
  return { files, nodes, counted, ...counts }
}

/** Two levels tell parts of a repository apart. */
function folderOf(path: string): string {
  return path.split('/').slice(0, -1).slice(0, 2).join('/') || '.'
}

function addTo(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

function commonest(counts: ReadonlyMap<string, number>): [name: string, nodes: number][] {
  return [...counts].toSorted(([, one], [, other]) => other - one).slice(0, mostFolders)
}

export function itemView(item: ItemState) {
  const { item_id, capability, where, objective, depends_on, status, retries, result } = item
  const { success_criteria, budget, priority } = item
  const { planned = 0, ended = {}, change_sets = 0, findings = 0, left = 0, faults = {}, fault = null } = result ?? {}
  return {
    item_id,
    capability,
    where,
    objective: oneLine(objective, 300),
    depends_on,
    status,
    retries,
    // Whoever plans it anew must know all of it.
    ...(!hasBegun(item) && { success_criteria, budget, priority }),
    ...(result !== undefined && {
      criteria: verdictOn(item),
      operations: planned,
      ended,
      change_sets,
      findings,
      left,
      faults,
      fault,
    }),
  }
}

function heardView(message: InboxMessage) {
  switch (message.kind) {
    case 'said':
      return { kind: message.kind, text: oneLine(message.text, 2_000) }
    case 'escalation': {
      const { kind, urgency, affected, mitigation, rationale } = message.escalation
      return { kind: message.kind, of: kind, urgency, affected, mitigation, rationale: oneLine(rationale, 500) }
    }
    default:
      return { kind: message.kind }
  }
}

const mostFaults = 8

export async function commonestFaults({ runId }: Run, { ledger }: ViewDeps) {
  const faults = await ledger.countFailures(runId)
  return faults.slice(0, mostFaults).map(({ errorCode, count, first: { bundle, node, outcome } }) => {
    return { error_code: errorCode, count, agent: bundle, path: node.path, reason: oneLine(outcome?.reason ?? '', 200) }
  })
}

const notable: ReadonlySet<EventName> = new Set([
  'run.accepted',
  'snapshot.stored',
  'nodes.discovered',
  'bundles.checked',
  'budget.reached',
  'run.reopened',
  'agenda.decided',
  'conductor.decided',
  'objective.refined',
  'human_input.answered',
  'finding.reported',
  'learning.reported',
])
const firstEvents = 20
const lastEvents = 200
const mostEvents = 30

/** Returns those that matter among the first events of a run and the last ones. */
export async function notableEvents(
  { runId, seq }: Run,
  matters: (event: Event) => boolean,
  { ledger }: Pick<ViewDeps, 'ledger'>,
) {
  const first = await ledger.readEvents(runId, { after: 0, limit: firstEvents })
  const last = await ledger.readEvents(runId, { after: Math.max(firstEvents, seq - lastEvents), limit: lastEvents })
  const shown = [...first, ...last].filter(matters)
  return shown.slice(-mostEvents).map(eventView)
}

function eventView(event: Event) {
  return { seq: event.seq, event: event.event, about: oneLine(summarizeEvent(wireEvent(event)), 200) }
}
