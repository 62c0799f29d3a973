import type { z } from 'zod'
import type { WatchThresholds } from '#domain/events/watcher-events.ts'
import type { variablesOf } from './setting.ts'
import type { watcherSettings } from './watcher-settings.ts'

type Values = z.infer<z.ZodObject<ReturnType<typeof variablesOf<typeof watcherSettings, 'watcher'>>>>

/** Reads from when on a part of a run is reviewed. */
export function watchThresholds(read: Values): WatchThresholds {
  return {
    failures_in_a_row: read.REMORA_WATCHER_FAILURES_IN_A_ROW,
    failure_share: read.REMORA_WATCHER_FAILURE_SHARE,
    timeouts: read.REMORA_WATCHER_TIMEOUTS,
    limits_hit: read.REMORA_WATCHER_LIMITS_HIT,
    hit_share: read.REMORA_WATCHER_HIT_SHARE,
    security_signs: read.REMORA_WATCHER_SECURITY_SIGNS,
    window_s: read.REMORA_WATCHER_WINDOW_S,
    budget_pace: read.REMORA_WATCHER_BUDGET_PACE,
    stalled_s: read.REMORA_WATCHER_STALLED_S,
    cool_down_s: read.REMORA_WATCHER_COOL_DOWN_S,
  }
}
