import { z } from 'zod'
import { WatchThresholds } from '#domain/events/watcher-events.ts'
import type { SettingsTable } from './setting.ts'

const { shape } = WatchThresholds

function threshold<Name extends keyof WatchThresholds>(name: Name, usual: number, about: string) {
  return { key: `watcher.${name}`, owners: ['watcher'], type: shape[name], default: usual, about } as const
}

/** What they choose is reviewed by the model of the role `watcher`; each review says with which thresholds (`watcher.reviewed`). */
export const watcherSettings = {
  REMORA_WATCHER_FAILURES_IN_A_ROW: threshold(
    'failures_in_a_row',
    6,
    'the watcher has a run reviewed when so many operations that ended one after the other have failed or were blocked',
  ),
  REMORA_WATCHER_FAILURE_SHARE: threshold('failure_share', 0.5, 'or when such a share of the last 20 that ended have'),
  REMORA_WATCHER_TIMEOUTS: threshold(
    'timeouts',
    6,
    'or after so many timeouts of operations and tools (AGENT_006, TOOL_003) within `watcher.window_s`',
  ),
  REMORA_WATCHER_LIMITS_HIT: threshold(
    'limits_hit',
    6,
    'or after so many limits of turns, context or memory hit (AGENT_004, AGENT_007, TOOL_006) and attempts lost within it',
  ),
  REMORA_WATCHER_HIT_SHARE: threshold(
    'hit_share',
    0.3,
    'timeouts and limits count only when they are such a share of the operations that ended meanwhile',
  ),
  REMORA_WATCHER_SECURITY_SIGNS: threshold(
    'security_signs',
    4,
    'or after so many findings of security rules (`S105`, `CWE-78`, `security/…`), calls that left the workspace (TOOL_007) and calls that a person denied (TOOL_008) within `watcher.window_s`',
  ),
  REMORA_WATCHER_WINDOW_S: threshold(
    'window_s',
    600,
    'within how many seconds timeouts, limits and signs of security are counted',
  ),
  REMORA_WATCHER_BUDGET_PACE: threshold(
    'budget_pace',
    1.4,
    "or when the share of the run's token budget that is used is so many times the share of its operations that is done",
  ),
  REMORA_WATCHER_STALLED_S: threshold(
    'stalled_s',
    900,
    'or when nothing has moved for so many seconds in a run that says of nothing that it waits for it',
  ),
  REMORA_WATCHER_COOL_DOWN_S: threshold(
    'cool_down_s',
    900,
    'for so many seconds the same kind of trouble of a run is not reviewed again, and what was raised is not raised again',
  ),
  REMORA_WATCHER_MODEL: {
    key: 'model.roles.watcher',
    owners: ['watcher'],
    type: z.string().min(1).max(4096),
    about: 'the model that reviews what the watcher has found; without it the one of `model.default`',
  },
} satisfies SettingsTable

/** Reads from when on a part of a run is reviewed. */
export function watchThresholds(read: Readonly<Record<string, unknown>>): WatchThresholds {
  const values = Object.keys(shape).map((name) => [name, read[`REMORA_WATCHER_${name.toUpperCase()}`]])
  return WatchThresholds.parse(Object.fromEntries(values))
}
