import '#platform/lean-v8.ts'
import { runMain } from '#settings/run-main.ts'
import { discovery } from './discovery-service.ts'

await runMain(discovery, process.env)
