import '#platform/lean-v8.ts'
import { openLog, processName } from '#platform/log.ts'
import { openRedactor } from '#platform/secrets/redactor.ts'
import { loadSettings } from '#settings/load-settings.ts'
import { exitOnSignal, runService, stopWithParent } from '#platform/service-process.ts'
import { parseConfig } from './publisher-config.ts'
import { startPublisher } from './publisher-service.ts'

await runService(async () => {
  const { publisher, logging, secrets } = parseConfig(loadSettings(process.env, process.cwd()).env)
  const redactor = openRedactor(secrets)
  const log = openLog({ service: 'publisher', instance: processName(), ...logging, redactor })
  const starting = startPublisher(publisher, { log, redactor })
  exitOnSignal(starting)
  const service = await starting
  log.info('ready', { health_port: service.healthPort, access_port: service.accessPort })
  stopWithParent(service.close)
})
