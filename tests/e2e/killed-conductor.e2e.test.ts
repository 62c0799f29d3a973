import { expect, it } from 'vitest'
import { until } from '#testing/until.ts'
import { useServices, useSourceFolder } from '../use-services.ts'

const folder = useSourceFolder({ 'shop/stock.py': 'import os\n\n\ndef label(row):\n    return f"shelf" + row\n' })
const conductorEnv = { REMORA_CONDUCTOR_MODEL: 'rehearsal/basic', REMORA_LEASE_MS: '1000' }
const services = useServices({ conductorEnv })

async function asked(): Promise<boolean> {
  const text = await (await fetch(`${services.named('rehearsal').origin}/metrics`)).text()
  return /num_requests_running\S* 1\n/.test(text)
}

it('a run whose conductor is killed while the model plans goes on with the next one, from one plan', async () => {
  await services.setModel('latency', { ms: 600_000 })
  const runId = await services.api.submit(await folder.pack(), { agents: ['lint'], objective: 'tidy' })
  await until(asked, { withinMs: 110_000 })
  const killed = services.named('conductor')
  killed.kill('SIGKILL')
  await killed.exited
  await services.setModel('latency', { ms: 0 })
  await services.startAgain('conductor')
  const { events, status } = await services.api.follow(runId)
  const told = events.map(({ event }) => event)
  expect([status, told.filter((event) => event === 'agenda.decided').length]).toEqual(['completed', 1])
  expect(told.filter((event) => event.startsWith('item.'))).toEqual(['item.started', 'item.ended'])
  await services.verify(runId)
})
