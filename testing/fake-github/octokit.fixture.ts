import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { createAppAuth } from '@octokit/auth-app'
import { Octokit } from '@octokit/core'
import { boundPort, closeServer } from '#platform/http-health.ts'
import type { FakeGitHub } from './start-fake-github.ts'

/** The real client, with the key of the app: of the app itself, or of one of its installations. */
export function clientOf(
  { app, apiUrl }: FakeGitHub,
  options: { installationId?: number; privateKey?: string } = {},
): Octokit {
  const auth = { appId: app.id, privateKey: app.privateKey, ...options }
  return new Octokit({ baseUrl: apiUrl, authStrategy: createAppAuth, auth, log: quiet })
}

export function clientWith({ apiUrl }: Pick<FakeGitHub, 'apiUrl'>, token: string): Octokit {
  return new Octokit({ baseUrl: apiUrl, auth: token, log: quiet })
}

const quiet = { debug() {}, info() {}, warn() {}, error() {} }

/** What a client saw of a refusal: status and message. */
export async function refusalOf(request: Promise<unknown>): Promise<string> {
  const error: unknown = await request.then(() => 'it was not refused').catch((reason: unknown) => reason)
  if (!(error instanceof Error)) return String(error)
  return 'status' in error ? `${String(error.status)} ${error.message.split(' - ')[0]}` : error.message
}

export type Received = { event: string; guid: string; signature: string; body: string }

/** A receiver of webhooks that takes all. */
export async function receiveWebhooks() {
  const received: Received[] = []
  const server = createServer((request, response) => {
    const header = (name: string) => String(request.headers[name])
    void (async () => {
      const body = await text(request)
      const [event, guid] = [header('x-github-event'), header('x-github-delivery')]
      received.push({ event, guid, signature: header('x-hub-signature-256'), body })
      response.end('taken')
    })()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${boundPort(server)}/hooks`, received, close: () => closeServer(server) }
}
