import { stayLean } from '#platform/lean-v8.ts'
import { runMain } from '#settings/run-main.ts'
import { api } from './api-service.ts'

stayLean() // a thousand readers of events: 40 MB less of 250
await runMain(api, process.env)
