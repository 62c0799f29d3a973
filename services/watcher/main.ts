import '#platform/lean-v8.ts'
import { runMain } from '#settings/run-main.ts'
import { watcher } from './watcher-service.ts'

await runMain(watcher, process.env)
