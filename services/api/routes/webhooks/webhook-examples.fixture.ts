import { createHmac } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

const Examples = z.array(z.object({ name: z.string(), examples: z.array(z.looseObject({})) }))

/** Of github.com, and of the versions of GitHub Enterprise Server that people still run. */
const hosts = ['api.github.com', 'ghes-31', 'ghes-32', 'ghes-33', 'ghes-34', 'ghes-35']

export type WebhookExample = { host: string; event: string; payload: Record<string, unknown> }

/** Every payload of @octokit/webhooks-examples, which GitHub has really sent. */
export async function webhookExamples(): Promise<WebhookExample[]> {
  const main = import.meta.resolve('@octokit/webhooks-examples')
  const lists = hosts.map(async (host) => {
    const events = Examples.parse(
      JSON.parse(await readFile(fileURLToPath(new URL(`../${host}/index.json`, main)), 'utf8')),
    )
    return events.flatMap(({ name: event, examples }) => examples.map((payload) => ({ host, event, payload })))
  })
  return (await Promise.all(lists)).flat()
}

/** The headers with which GitHub sends a webhook. */
export function webhookHeaders(
  body: string | Uint8Array,
  { secret, event, deliveryId }: { secret: string; event: string; deliveryId: string },
): Record<string, string> {
  const signature = (by: string) => `${by}=${createHmac(by, secret).update(body).digest('hex')}`
  return {
    'content-type': 'application/json',
    'x-github-event': event,
    'x-github-delivery': deliveryId,
    'x-hub-signature': signature('sha1'),
    'x-hub-signature-256': signature('sha256'),
  }
}
