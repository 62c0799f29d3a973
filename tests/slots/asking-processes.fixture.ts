import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { after } from '#platform/clock.ts'
import { boundPort, closeServer } from '#platform/http-health.ts'

const main = fileURLToPath(new URL('asking-main.ts', import.meta.url))
const Asked = z.looseObject({ model: z.string() })
const body = JSON.stringify({ choices: [{ message: { content: 'hi' }, finish_reason: 'stop' }] })

export type CountingServer = {
  url: string
  /** Requests in flight, of all processes or of one, and the most at once since `forget`. */
  now(model?: string): number
  most(): number
  served(model?: string): number
  forget(): void
  close(): Promise<void>
}

/** A server that takes `ms` for each answer. */
export async function countingServer(ms: number): Promise<CountingServer> {
  const running: string[] = []
  let served: string[] = []
  let most = 0
  const server = createServer((request, response) => {
    if (request.method === 'GET') return void response.writeHead(404).end() // its health, models or metrics
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.once('end', () => {
      const { model } = Asked.parse(JSON.parse(Buffer.concat(chunks).toString()))
      running.push(model)
      most = Math.max(most, running.length)
      const stop = after(ms, () => response.writeHead(200, { 'content-type': 'application/json' }).end(body))
      response.once('close', () => {
        stop()
        running.splice(running.indexOf(model), 1)
        if (response.writableFinished) served.push(model)
      })
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const of = (all: readonly string[], model?: string) =>
    model === undefined ? all.length : all.filter((one) => one === model).length
  return {
    url: `http://127.0.0.1:${boundPort(server)}/v1`,
    now: (model) => of(running, model),
    most: () => most,
    served: (model) => of(served, model),
    forget() {
      most = running.length
      served = []
    },
    async close() {
      server.closeAllConnections()
      await closeServer(server)
    },
  }
}

export type AskingOptions = {
  url: string
  redisUrl: string
  namespace: string
  maxInFlightOfAll: number
  leaseMs: number
  atOnce: number
}

export type AskingProcess = { holder: string; kill(): Promise<void>; stop(): Promise<void> }

export function startAsking(holder: string, options: AskingOptions): AskingProcess {
  const child = fork(main, [JSON.stringify({ holder, ...options })], {
    execArgv: [],
    env: {},
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const exited = once(child, 'exit')
  const end = async (how: (child: ChildProcess) => void) => {
    if (child.exitCode === null && child.signalCode === null) how(child)
    await exited
  }
  return {
    holder,
    kill: () => end((one) => one.kill('SIGKILL')),
    stop: () => end((one) => one.disconnect()),
  }
}
