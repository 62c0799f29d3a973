import { stayLean } from '#platform/lean-v8.ts'
import { openLog } from '#platform/log.ts'
import { openRedactor } from '#platform/secrets/redactor.ts'
import { loadSettings } from '#settings/load-settings.ts'
import { exitOnSignal, runService, stopWithParent } from '#platform/service-process.ts'
import { parseConfig } from './worker-config.ts'
import { startWorker } from './worker-service.ts'

await runService(async () => {
  const settings = loadSettings(process.env, process.cwd())
  if (settings.keyFault !== undefined) throw settings.keyFault
  const { worker, secrets } = parseConfig(settings.env)
  const redactor = openRedactor(secrets)
  const log = openLog({ service: 'worker', instance: worker.workerId, ...worker.logging, redactor })
  const starting = startWorker(worker, { log, redactor })
  exitOnSignal(starting, worker.drainMs + 10_000)
  const service = await starting
  if (worker.isSmall) stayLean()
  log.info('ready', { health_port: service.healthPort, slots: worker.slots })
  process.send?.({ healthPort: service.healthPort }) // to the embedded stack, if that started this worker
  stopWithParent(service.close)
})
