import '#platform/lean-v8.ts'
import { exitOnSignal, runService, stopWithParent } from '#platform/service-process.ts'
import { parseConfig } from './rehearsal-config.ts'
import { startRehearsal } from './rehearsal-server.ts'

await runService(async () => {
  const config = parseConfig(process.env)
  const starting = startRehearsal(config)
  exitOnSignal(starting)
  const rehearsal = await starting
  stopWithParent(rehearsal.close)

  // With faults the seed is printed too, so that a run can be repeated.
  const seed = Object.keys(config.faults.shares).length === 0 ? {} : { seed: config.faults.seed }
  process.stdout.write(`${JSON.stringify({ url: rehearsal.url, pid: process.pid, ...seed })}\n`)
})
