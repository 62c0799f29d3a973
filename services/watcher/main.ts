import '#platform/lean-v8.ts'
import { openLog, processName } from '#platform/log.ts'
import { openRedactor } from '#platform/secrets/redactor.ts'
import { loadSettings } from '#settings/load-settings.ts'
import { exitOnSignal, runService, stopWithParent } from '#platform/service-process.ts'
import { parseConfig } from './watcher-config.ts'
import { startWatcher } from './watcher-service.ts'

await runService(async () => {
  const { env, keyFault } = loadSettings(process.env, process.cwd())
  if (keyFault !== undefined) throw keyFault
  const { watcher, logging, secrets } = parseConfig(env)
  const redactor = openRedactor(secrets)
  const log = openLog({ service: 'watcher', instance: processName(), ...logging, redactor })
  const starting = startWatcher(watcher, { log, redactor })
  exitOnSignal(starting)
  const service = await starting
  log.info('ready', { health_port: service.healthPort })
  stopWithParent(service.close)
})
