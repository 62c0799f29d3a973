import { stayLean } from '#platform/lean-v8.ts'
import { openLog, processName } from '#platform/log.ts'
import { openRedactor } from '#platform/secrets/redactor.ts'
import { loadSettings } from '#settings/load-settings.ts'
import { exitOnSignal, runService, stopWithParent } from '#platform/service-process.ts'
import { startApi } from './api-service.ts'
import { parseConfig } from './api-config.ts'

await runService(async () => {
  const { api, logging, secrets } = parseConfig(loadSettings(process.env, process.cwd()).env)
  stayLean() // a thousand readers of events: 40 MB less of 250
  const redactor = openRedactor(secrets)
  const log = openLog({ service: 'api', instance: processName(), ...logging, redactor })
  const starting = startApi(api, { log, redactor })
  exitOnSignal(starting)
  const service = await starting
  log.info('listening', { url: service.url })
  stopWithParent(service.close)
})
