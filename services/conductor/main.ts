import '#platform/lean-v8.ts'
import { openLog } from '#platform/log.ts'
import { openRedactor } from '#platform/secrets/redactor.ts'
import { loadSettings } from '#settings/load-settings.ts'
import { exitOnSignal, runService, stopWithParent } from '#platform/service-process.ts'
import { parseConfig } from './conductor-config.ts'
import { startConductor } from './conductor-service.ts'

await runService(async () => {
  const settings = loadSettings(process.env, process.cwd())
  if (settings.keyFault !== undefined) throw settings.keyFault
  const { conductor, logging, secrets } = parseConfig(settings.env)
  const redactor = openRedactor(secrets)
  const log = openLog({ service: 'conductor', instance: conductor.conductorId, ...logging, redactor })
  const starting = startConductor(conductor, { log, redactor })
  exitOnSignal(starting)
  const service = await starting
  log.info('ready', { health_port: service.healthPort })
  stopWithParent(service.close)
})
