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
  const given = leanFlags(process.env)
  process.env['REMORA_WORKER_SLOTS'] = `${slots}`
  const flags = leanFlags(process.env)
  if (self !== undefined && flags.join() !== given.join()) becomeLean(self, flags, given)
}

await runService(async () => {
  const settings = loadSettings(process.env, process.cwd())
  if (settings.keyFault !== undefined) throw settings.keyFault
  const { worker, secrets } = parseConfig(settings.env)
  if (!worker.isSmall) startAgainWithSlots(worker.slots)
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
