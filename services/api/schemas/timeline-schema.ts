import { z } from 'zod'
import { RunId } from '#domain/id-schemas.ts'
import { EventView } from './event-schema.ts'
import { VerdictShape } from './decision-schema.ts'
import { liveShape } from './live-schema.ts'
import { RunStatusShape } from './run-schema.ts'
import { Time } from './wire-parts.ts'

const { seq, ts, event, category, operation_id, node_id, data } = EventView.shape

export const TimelineEntry = z
  .strictObject({
    seq,
    ts,
    event,
    category,
    summary: z.string().meta({ description: 'the event in one sentence' }),
    operation_id,
    node_id,
    data,
  })
  .meta({ id: 'TimelineEntry' })
export type TimelineEntry = z.infer<typeof TimelineEntry>

export const TimelineDecision = z
  .strictObject({
    seq: z.int(),
    ts: Time,
    change_set_id: z.string(),
    operation_id: z.string(),
    verdict: VerdictShape,
    reason: z.string().nullable(),
    decided_by: z.string().meta({ description: '`kind/id` of who decided' }),
  })
  .meta({ id: 'TimelineDecision' })
export type TimelineDecision = z.infer<typeof TimelineDecision>

const TimelineDecisions = z
  .strictObject({
    accepted: z.int().meta({ description: 'change sets that are accepted now' }),
    rejected: z.int(),
    latest: z.array(TimelineDecision).meta({ description: 'the last 20, in order' }),
  })
  .meta({ id: 'TimelineDecisions' })

const Artifact = z
  .strictObject({
    kind: z.enum(['patch', 'archive', 'findings', 'artifacts', 'pull_request']).meta({ id: 'ArtifactKind' }),
    url: z.string().meta({ description: 'of the service, or of a pull request at its code host' }),
  })
  .meta({ id: 'Artifact' })
export type Artifact = z.infer<typeof Artifact>

export const Timeline = z
  .strictObject({
    run_id: RunId,
    correlation_id: z.string(),
    objective: z.string().nullable().meta({ description: 'null of a run that was asked for by its agents alone' }),
    status: RunStatusShape,
    current_step: liveShape.current_step,
    active_operations: liveShape.active_operations,
    decisions: TimelineDecisions,
    artifacts: z.array(Artifact),
    total_duration_ms: z.number().meta({ description: 'from its acceptance to its end, or till now' }),
    counts_by_category: z
      .record(z.string(), z.int())
      .meta({ id: 'CountsByCategory', description: 'events of the whole run' }),
    entries: z.array(TimelineEntry).meta({ description: 'a page, ordered by number' }),
    next_after: z.int().meta({ description: '`after` of the next page' }),
  })
  .meta({ id: 'Timeline' })
export type Timeline = z.infer<typeof Timeline>
