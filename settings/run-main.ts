import { snakeKeys } from '#domain/wire-keys.ts'
import type { Env } from '#platform/env.ts'
import { openLog, processName } from '#platform/log.ts'
import { openRedactor } from '#platform/secrets/redactor.ts'
import { type BegunService, exitOnSignal, runService, type Service, stopWithParent } from '#platform/service-process.ts'
import { loadSettings, placeOfSetting } from './load-settings.ts'

/** Runs a service as this process, until a signal or the end of its parent. Returns it once it is ready. */
export function runMain<Config, Begun extends BegunService>(service: Service<Config, Begun>, env: Env) {
  return runService(async () => {
    const { name, refuses } = service
    const settings = loadSettings(env, process.cwd())
    const fault = refuses && settings[refuses]
    if (fault !== undefined) throw fault
    const { config, logging, secrets, instance = processName(), closeMs } = service.parseConfig(settings.env)
    const redactor = openRedactor(secrets)
    const log = openLog({ service: name, instance, ...logging, redactor })
    const placeOf = (key: readonly string[]) => placeOfSetting(settings, env, key)
    const starting = service.start(config, { log, redactor, placeOf })
    exitOnSignal(starting, closeMs)
    const begun = await starting
    const { close, ...shown } = begun
    log.info('ready', snakeKeys(shown))
    stopWithParent(close)
    return { begun, config }
  })
}
