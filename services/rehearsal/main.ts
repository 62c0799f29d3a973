import '#platform/lean-v8.ts'
import { exitOnSignal, runService, stopWithParent } from '#platform/service-process.ts'
import { parseConfig } from './rehearsal-config.ts'
import { startRehearsal } from './rehearsal-server.ts'

await runService(async () => {
  const starting = startRehearsal(parseConfig(process.env))
  exitOnSignal(starting)
  const rehearsal = await starting
  stopWithParent(rehearsal.close)
  process.stdout.write(`${JSON.stringify({ url: rehearsal.url, pid: process.pid })}\n`)
})
