import '#platform/lean-v8.ts'
import { runMain } from '#settings/run-main.ts'
import { setup } from './setup-service.ts'

await runMain(setup, process.env)
