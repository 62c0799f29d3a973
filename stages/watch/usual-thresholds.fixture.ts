import { readEnv } from '#platform/env.ts'
import { variablesOf } from '#settings/setting.ts'
import { watcherSettings, watchThresholds } from '#settings/watcher-settings.ts'

/** The thresholds of who sets none. */
export const usualThresholds = watchThresholds(readEnv(variablesOf(watcherSettings, 'watcher'), {}))
