import '#platform/lean-v8.ts'
import { openLog, processName } from '#platform/log.ts'
import { openRedactor } from '#platform/secrets/redactor.ts'
import { loadSettings, placeOfSetting } from '#settings/load-settings.ts'
import { exitOnSignal, runService, stopWithParent } from '#platform/service-process.ts'
import { parseConfig } from './discovery-config.ts'
import { startDiscovery } from './discovery-service.ts'

await runService(async () => {
  const settings = loadSettings(process.env, process.cwd())
  const { discovery, logging, secrets } = parseConfig(settings.env)
  const redactor = openRedactor(secrets)
  const log = openLog({ service: 'discovery', instance: processName(), ...logging, redactor })
  const placeOf = (key: readonly string[]) => placeOfSetting(settings, process.env, key)
  const bundles = { ...discovery.bundles, placeOf }
  const starting = startDiscovery({ ...discovery, bundles }, { log, redactor })
  exitOnSignal(starting)
  const service = await starting
  log.info('ready', { health_port: service.healthPort })
  stopWithParent(service.close)
})
