import { stayLean } from '#platform/lean-v8.ts'
import { runMain } from '#settings/run-main.ts'
import { worker } from './worker-service.ts'

const { begun, config } = await runMain(worker, process.env)
if (config.isSmall) stayLean()
process.send?.({ healthPort: begun.healthPort }) // to the embedded stack, if that started this worker
