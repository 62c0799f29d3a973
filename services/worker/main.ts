import { stayLean } from '#platform/lean-v8.ts'
import { becomeLean, leanFlags } from '#platform/lean-memory.mjs'
import { openLog } from '#platform/log.ts'
import { openRedactor } from '#platform/secrets/redactor.ts'
import { loadSettings } from '#settings/load-settings.ts'
import { exitOnSignal, runService, stopWithParent } from '#platform/service-process.ts'
import { parseConfig } from './worker-config.ts'
import { startWorker } from './worker-service.ts'

/** Starts again where only the settings file says that there are many: the process has the flags of a worker with few. */
function startAgainWithSlots(slots: number): void {
  const [, self] = process.argv
  const dropped = leanFlags(process.env)
  if (self === undefined || dropped.length === 0) return
  process.env['REMORA_WORKER_SLOTS'] = `${slots}`
  becomeLean(self, [], dropped)
}

await runService(async () => {
  const settings = loadSettings(process.env, process.cwd())
  if (settings.keyFault !== undefined) throw settings.keyFault
  const { worker, secrets } = parseConfig(settings.env)
  if (worker.isSmall) stayLean()
  else startAgainWithSlots(worker.slots)
  const redactor = openRedactor(secrets)
  const log = openLog({ service: 'worker', instance: worker.workerId, ...worker.logging, redactor })
  const starting = startWorker(worker, { log, redactor })
  exitOnSignal(starting, worker.drainMs + 10_000)
  const service = await starting
  log.info('ready', { health_port: service.healthPort, slots: worker.slots })
  process.send?.({ healthPort: service.healthPort }) // to the embedded stack, if that started this worker
  stopWithParent(service.close)
})
