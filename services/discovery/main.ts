import '#platform/lean-v8.ts'
import { openLog } from '#platform/log.ts'
import { openRedactor } from '#platform/secrets/redactor.ts'
import { loadSettings } from '#settings/load-settings.ts'
import { exitOnSignal, runService, stopWithParent } from '#platform/service-process.ts'
import { parseConfig } from './discovery-config.ts'
import { startDiscovery } from './discovery-service.ts'

await runService(async () => {
  const { discovery, logLevel, secrets } = parseConfig(loadSettings(process.env, process.cwd()).env)
  const redactor = openRedactor(secrets)
  const log = openLog({ service: 'discovery', level: logLevel, redactor })
  const service = await startDiscovery(discovery, { log, redactor })
  log.info('ready', { health_port: service.healthPort })
  exitOnSignal(service.close)
  stopWithParent(service.close)
})
