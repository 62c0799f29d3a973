import { z } from 'zod'
import { Escalation, escalationKinds } from '../agenda.ts'
import { EvidenceRefs } from '../reports.ts'
import { event } from './event-row.ts'

const times = z.int().min(2).max(20)
const seconds = z.int().min(1).max(86_400)

/** Says from when on a part of a run is reviewed. The rows of settings/watcher-settings.ts say what each means. */
export const WatchThresholds = z.strictObject({
  failures_in_a_row: times,
  failure_share: z.number().gt(0).max(1),
  timeouts: times,
  limits_hit: times,
  hit_share: z.number().min(0).max(1),
  security_signs: z.int().min(1).max(20),
  window_s: seconds,
  budget_pace: z.number().min(1).max(100),
  stalled_s: seconds,
  cool_down_s: seconds,
})
export type WatchThresholds = z.infer<typeof WatchThresholds>

/** A part of a run that a detector has chosen, from one event to another, and why. */
export const WatchWindow = z.strictObject({
  kind: z.enum(escalationKinds),
  from_seq: z.int().min(1),
  to_seq: z.int().min(1),
  why: z.string(),
})
export type WatchWindow = z.infer<typeof WatchWindow>

/** The events of the watcher, which looks at runs from outside. */
export const watcherEvents = {
  'watcher.reviewed': event(
    'escalation',
    'A model has judged a window of events, of which it saw `seen`. `known`: it was raised before.',
    {
      ...WatchWindow.shape,
      seen: z.int(),
      verdict: z.enum(['nothing', 'escalated', 'known']),
      summary: z.string(),
      escalations: z.int(),
      thresholds: WatchThresholds,
      model: z.string(),
      prompt_hash: z.string(),
      prompt_tokens: z.int(),
      completion_tokens: z.int(),
    },
  ),
  'watcher.failed': event('failed', 'The review of a window failed; nothing decides in its place.', {
    ...WatchWindow.shape,
    error_code: z.string().optional(),
    reason: z.string(),
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
  }),
  'escalation.raised': event(
    'escalation',
    'The watcher, or an agent at its work, asks for a decision, of the conductor if the run has one, else of a person.',
    {
      ...Escalation.shape,
      from_seq: z.int().optional(),
      to_seq: z.int().optional(),
      attempt: z.int().optional(),
      evidence_refs: EvidenceRefs.optional(),
    },
  ),
} as const
