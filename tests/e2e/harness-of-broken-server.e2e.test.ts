import { once } from 'node:events'
import { createServer } from 'node:http'
import { afterAll, expect, it } from 'vitest'
import { z } from 'zod'
import { boundPort } from '#platform/http-health.ts'
import { openPrograms } from '../program.ts'

const Side = z.looseObject({
  total: z.looseObject({ called: z.int() }),
  errors: z.array(z.looseObject({ code: z.string() })),
})
const Report = z.looseObject({ passed: z.boolean(), sides: z.array(Side) })

const programs = openPrograms()
const broken = createServer((incoming, response) => {
  const isList = incoming.url?.endsWith('/models') === true
  response.writeHead(isList ? 200 : 500, { 'content-type': 'application/json' })
  response.end(isList ? '{"data":[{"id":"small"}]}' : '{"error":"out of order"}')
}).listen(0, '127.0.0.1')
await once(broken, 'listening')
afterAll(async () => {
  await programs.end()
  broken.close()
  broken.closeAllConnections()
})

// While every circuit breaker is open, no socket and no timer keeps the process alive: it must not end before its work is done.
it('reports the answer of a server that fails every request', async () => {
  const url = `http://127.0.0.1:${boundPort(broken)}`
  const args = ['harness', '--model', url, '--requests', '2', '--shapes', 'string', '--json', '--min-called', '0.5']
  const env = { REMORA_MODEL_RETRY_BUDGET_MS: '2000' }
  const harness = programs.start(['cli/remora.mjs', ...args], { env })
  expect(await harness.exited).toBe(1)
  const { passed, sides } = Report.parse(JSON.parse(harness.out()))
  expect({ passed, called: sides.map(({ total }) => total.called) }).toEqual({ passed: false, called: [0] })
  // A line for each number of tries.
  const codes = sides.flatMap(({ errors }) => errors.map(({ code }) => code))
  expect(new Set(codes)).toEqual(new Set(['AGENT_002']))
})
