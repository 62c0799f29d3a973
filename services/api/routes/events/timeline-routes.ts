import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Decision } from '#domain/decision.ts'
import { AppError } from '#domain/error.ts'
import { type WireEvent, wireEvent } from '#domain/event.ts'
import { type EventCategory, eventCategories, type EventName, eventTable } from '#domain/events/event-table.ts'
import type { Run } from '#domain/run.ts'
import { summarizeEvent } from '#domain/timeline/summarize-event.ts'
import { openCachedAnswers } from '#platform/cached-answers.ts'
import type { Redactor } from '#platform/secrets/redactor.ts'
import { type Artifact, type Timeline, TimelineDecision, TimelineEntry } from '#schemas/timeline-schema.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { LiveState } from '#store/ledger/live-state.ts'
import type { ApiEnv } from '../../http/api-env.ts'
import { isoTime, viewOf } from '../../http/schema-parts.ts'
import { activeView, currentStep } from '../runs/live-view.ts'
import { findRun, runLinks, waitingFor } from '../runs/run-view.ts'
import { eventEndpoints } from './event-routes.ts'
import { readEventPage, requireKnown, type EventSource, withoutSecrets } from './run-log.ts'

export type TimelineRouteDeps = {
  ledger: EventSource & Pick<Ledger, 'countVerdicts' | 'lastDecision' | 'readDecisions' | 'readLive' | 'readTally'>
  redactor: Redactor
}

const shownOperations = 100
const shownDecisions = 20
/** Suffices for the runs that programs ask for again and again. */
const rememberedDecisions = 8

export function addTimelineRoute(routes: OpenAPIHono<ApiEnv>, { ledger, redactor }: TimelineRouteDeps): void {
  const latestDecisions = openLatestDecisions(ledger)
  routes.openapi(eventEndpoints.timeline, async (c) => {
    const { category, required_milestones: milestones = [], after, limit } = c.req.valid('query')
    const run = await findRun(c.req.valid('param').run_id, c.get('caller').projectId, ledger)
    requireKnown(run, after)
    const tally = await ledger.readTally(run.runId)
    requireMilestones(milestones, tally)
    const [page, live, verdicts, latest] = await Promise.all([
      readEventPage(run, { after, limit, categories: category }, ledger),
      ledger.readLive(run.runId, shownOperations),
      ledger.countVerdicts(run.runId),
      latestDecisions(run),
    ])
    const counts = [...verdicts.values()]
    const timeline: Timeline = {
      ...runPart(run, live),
      decisions: {
        accepted: counts.reduce((sum, { accepted }) => sum + accepted, 0),
        rejected: counts.reduce((sum, { rejected }) => sum + rejected, 0),
        latest: latest.map(latestView),
      },
      artifacts: artifactsOf(run, tally),
      counts_by_category: countsOf(tally),
      entries: page.events.map((event) => entryView(wireEvent(withoutSecrets(event, redactor)))),
      next_after: page.nextAfter,
    }
    return c.json(timeline, 200)
  })
}

type Tally = ReadonlyMap<EventName, number>

/** RUN_003 names the events that the run has not had. */
function requireMilestones(names: readonly string[], tally: Tally): void {
  const had: ReadonlySet<string> = new Set(tally.keys())
  const missing = names.filter((name) => !had.has(name))
  const named = missing.map((name) => (Object.hasOwn(eventTable, name) ? name : `${name} (no event has this name)`))
  if (missing.length > 0) throw new AppError('RUN_003', `The run has not had: ${named.join(', ')}`)
}

function runPart(run: Run, live: LiveState) {
  const { runId, status, acceptedAt, endedAt } = run
  return {
    run_id: runId,
    correlation_id: runId,
    objective: run.request.objective ?? null,
    status,
    current_step: currentStep(run, live.counts, waitingFor(run, { away: [] })),
    active_operations: live.shown.map(activeView),
    total_duration_ms: Math.max(0, (endedAt ?? Date.now()) - acceptedAt),
  }
}

function countsOf(tally: Tally): Record<string, number> {
  const byCategory = new Map<EventCategory, number>(eventCategories.map((category) => [category, 0]))
  for (const [name, count] of tally) {
    const { category } = eventTable[name]
    byCategory.set(category, (byCategory.get(category) ?? 0) + count)
  }
  return Object.fromEntries(byCategory)
}

function entryView(event: WireEvent): TimelineEntry {
  const { seq, ts, event: name, operation_id, node_id, data } = event
  const summary = summarizeEvent(event)
  const { category } = eventTable[name]
  return viewOf(TimelineEntry, { seq, ts, category, data }, { event: name, summary, operation_id, node_id })
}

function latestView(decision: Decision): TimelineDecision {
  const { version: seq, at, by } = decision
  return viewOf(TimelineDecision, decision, { seq, ts: isoTime(at), decided_by: by })
}

/** Returns the last decision on each of the change sets that were decided on last, the last one last. */
function openLatestDecisions(ledger: TimelineRouteDeps['ledger']): (run: Run) => Promise<readonly Decision[]> {
  const decided = openCachedAnswers<readonly Decision[]>({ max: rememberedDecisions })
  return async ({ runId }) => {
    const last = await ledger.lastDecision(runId)
    if (last === 0) return []
    return decided.get(`${runId} ${last}`, async () => {
      const { byChangeSet } = await ledger.readDecisions(runId)
      return [...byChangeSet.values()].slice(-shownDecisions)
    })
  }
}

function artifactsOf({ runId, compositionKey, findings, publication }: Run, tally: Tally): Artifact[] {
  const links = runLinks(runId)
  const own: [Artifact['kind'], boolean, string][] = [
    ['patch', compositionKey !== null, links.patch],
    ['archive', compositionKey !== null, links.archive],
    ['findings', findings > 0, links.findings],
    ['artifacts', tally.has('artifact.reported'), `${links.timeline}?category=artifact`],
  ]
  return [
    ...own.flatMap(([kind, exists, url]) => (exists ? [{ kind, url }] : [])),
    ...(publication?.pulls ?? []).map(({ url }) => ({ kind: 'pull_request' as const, url })),
  ]
}
