import '#platform/lean-v8.ts'
import { runMain } from '#settings/run-main.ts'
import { publisher } from './publisher-service.ts'

await runMain(publisher, process.env)
