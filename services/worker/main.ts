import { stayLean } from '#platform/lean-v8.ts'
import { fewSlots } from '#platform/lean-memory.mjs'
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
  if (worker.slots <= fewSlots) stayLean()
  const redactor = openRedactor(secrets)
  const log = openLog({ service: 'worker', instance: worker.workerId, ...worker.logging, redactor })
  const service = await startWorker(worker, { log, redactor })
  log.info('ready', { health_port: service.healthPort, slots: worker.slots })
  process.send?.('ready') // to the embedded stack, if that started this worker
  exitOnSignal(service.close, worker.drainMs + 10_000)
  stopWithParent(service.close)
})
