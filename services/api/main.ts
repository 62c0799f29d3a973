import '#platform/lean-v8.ts'
import { openLog } from '#platform/log.ts'
import { loadSettings } from '#settings/load-settings.ts'
import { exitOnSignal, runService, stopWithParent } from '#platform/service-process.ts'
import { startApi } from './api-service.ts'
import { parseConfig } from './api-config.ts'

await runService(async () => {
  const { api, logLevel, secrets } = parseConfig(loadSettings(process.env, process.cwd()).env)
  const log = openLog({ service: 'api', level: logLevel, secrets })
  const service = await startApi(api, { log })
  log.info('listening', { url: service.url })
  exitOnSignal(service.close)
  stopWithParent(service.close)
})
