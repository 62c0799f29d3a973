import '#platform/lean-v8.ts'
import { runMain } from '#settings/run-main.ts'
import { conductor } from './conductor-service.ts'

await runMain(conductor, process.env)
