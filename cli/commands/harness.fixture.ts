import { once } from 'node:events'
import { promisify } from 'node:util'
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { text as wholeText } from 'node:stream/consumers'
import { CommanderError } from 'commander'
import { z } from 'zod'
import { boundPort } from '#platform/http-health.ts'
import { startRehearsal } from '../../services/rehearsal/rehearsal-server.ts'
import { describeFailure } from '../describe-failure.ts'
import { type Printed, runCommand } from './served-api.fixture.ts'

type Given = Parameters<typeof runCommand>[1]

/** Runs `remora harness` with the exit code and the words for a failure that `main` has. */
export async function harness(args: readonly string[], given: Given = {}): Promise<Printed> {
  const printed = { out: '', err: '', code: 0 }
  try {
    return await runCommand(['harness', ...args], { cwd: '/', ...given, printed })
  } catch (error) {
    if (given.signal?.aborted === true) throw error
    printed.code = error instanceof CommanderError ? 2 : 1
    if (printed.code === 1) printed.err += describeFailure(error).text
  }
  return printed
}

const Rates = z.looseObject({
  requests: z.int(),
  called: z.number(),
  right_tool: z.number(),
  right_arguments: z.number(),
  submitted: z.number(),
  parsed_from_content: z.number(),
})
const Side = z.looseObject({
  model: z.string(),
  answered_by: z.string(),
  is_rehearsal: z.boolean(),
  settings: z.record(z.string(), z.unknown()),
  total: Rates,
  shapes: z.array(Rates.extend({ name: z.string(), variants: z.array(Rates.extend({ name: z.string() })) })),
  replies: z.int(),
  tries: z.int(),
  errors: z.array(z.strictObject({ code: z.string(), message: z.string(), count: z.int(), agents: z.int() })),
  misses: z.array(z.looseObject({ shape: z.string(), prompt: z.string(), calls: z.array(z.unknown()) })),
})
export const Report = z.looseObject({
  passed: z.boolean(),
  peak_in_flight: z.int(),
  sides: z.array(Side).min(1),
})

export async function harnessJson(args: readonly string[], given: Given = {}) {
  const { out, code } = await harness([...args, '--json'], given)
  const report = Report.parse(JSON.parse(out))
  const [tested, other] = report.sides
  if (tested === undefined) throw new Error('a report has a side')
  return { ...report, tested, other, code }
}

/** Part of the system prompt of agents/harness: other requests of the pool are passed on directly. */
const ofHarness = 'You carry out one request'

/**
 * The rehearsal model behind a barrier: requests of the harness are passed on all at once when `together` of them wait. It
 * records the request bodies and the largest number of requests at a time.
 */
export async function openBarrier(together: number) {
  const rehearsal = await startRehearsal({ host: '127.0.0.1', port: 0 })
  const waiting: (() => void)[] = []
  const bodies: string[] = []
  let peak = 0
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await wholeText(request)
    const handOn = () => {
      const { method, headers } = request
      const asked = httpRequest(`${rehearsal.origin}${request.url}`, { method, headers, agent: false }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(response)
      })
      asked.on('error', () => response.destroy())
      asked.end(body)
    }
    if (!body.includes(ofHarness)) return handOn()
    bodies.push(body)
    waiting.push(handOn)
    peak = Math.max(peak, waiting.length)
    if (waiting.length >= together) for (const release of waiting.splice(0)) release()
    return undefined
  }
  const server = createServer((request, response) => void take(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${boundPort(server)}`,
    peak: () => peak,
    waiting: () => waiting.length,
    bodies,
    connections: promisify(server.getConnections.bind(server)),
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
      await rehearsal.close()
    },
  }
}
