import { readEnv } from '#platform/env.ts'
import { variablesOf } from '#settings/setting.ts'
import { watchThresholds } from '#settings/watch-config.ts'
import { watcherSettings } from '#settings/watcher-settings.ts'

/** The thresholds of who sets none. */
export const usualThresholds = watchThresholds(readEnv(variablesOf(watcherSettings, 'watcher'), {}))
