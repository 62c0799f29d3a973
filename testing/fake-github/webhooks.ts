import { createHmac, randomUUID } from 'node:crypto'
import { delay } from '#platform/clock.ts'
import { apiDocument } from './github-document.ts'
import { type HostedRepository, type Installation, type World, installationOf } from './world.ts'

export type Delivery = {
  id: number
  guid: string
  event: string
  action: string | null
  payload: Record<string, unknown>
  installationId: number
  repositoryId: number | null
  deliveredAt: Date
  redelivery: boolean
  /** What the network did to it. */
  handling: Handling['how'] | null
  status: string
  statusCode: number
}

export type WebhookEvent = {
  event: string
  action?: string
  /** `action` and the id of the installation are added. */
  payload: Record<string, unknown>
  repository?: HostedRepository
  /** Without it, that of the repository; nothing is sent when there is none. */
  installation?: Installation
}

type Handling = { how: 'drop' | 'double' } | { how: 'delay'; ms: number }

export type Webhooks = ReturnType<typeof openWebhooks>

const longestAnswerMs = 10_000

/** Sends webhooks one after the other, signed as GitHub does it, and keeps a record of their deliveries. */
export function openWebhooks(world: World, options: { url?: string | undefined; onViolation(reason: string): void }) {
  const deliveries: Delivery[] = []
  const rules: { event: string | undefined; left: number; handling: Handling }[] = []
  const closing = new AbortController()
  const pending = new Set<Promise<void>>()
  let { url } = options
  let sending: Promise<void> = Promise.resolve()
  let held: Delivery[] | undefined

  function emit(sent: WebhookEvent): void {
    const { event, action, repository } = sent
    const installation = sent.installation ?? (repository === undefined ? undefined : installationOf(world, repository))
    if (installation === undefined || (event !== 'installation' && installation.suspendedAt !== undefined)) return
    const name = action === undefined ? {} : { action }
    const id = { id: installation.id, node_id: `I_${installation.id}` }
    // What is about the installation says all of it.
    const own = event.startsWith('installation') ? {} : { installation: id }
    const payload = { ...sent.payload, ...name, ...own }
    const fault = apiDocument().checkWebhook(event, action, payload)
    if (fault !== undefined) options.onViolation(`webhook ${event} ${action ?? ''}: ${fault}`)
    const delivery = newDelivery({ event, action, payload, installation, repository })
    if (held === undefined) queue(delivery)
    else held.push(delivery)
  }

  function newDelivery({ event, action, payload, installation, repository }: NewDelivery): Delivery {
    return {
      id: world.nextId(),
      guid: randomUUID(),
      event,
      action: action ?? null,
      payload,
      installationId: installation.id,
      repositoryId: repository?.id ?? null,
      deliveredAt: world.now(),
      redelivery: false,
      handling: null,
      status: 'pending',
      statusCode: 0,
    }
  }

  function queue(delivery: Delivery): void {
    deliveries.push(delivery)
    const rule = rules.find((one) => one.left > 0 && (one.event ?? delivery.event) === delivery.event)
    if (rule !== undefined) rule.left--
    const handling = rule?.handling
    delivery.handling = handling?.how ?? null
    if (handling?.how === 'drop') return lost(delivery, 'failed to connect to host')
    if (handling?.how === 'delay') {
      track(delay(handling.ms, closing.signal).then(() => attempt(delivery)))
      return undefined
    }
    const times = handling?.how === 'double' ? 2 : 1
    for (let count = 0; count < times; count++) {
      sending = sending.then(() => attempt(delivery))
      track(sending)
    }
    return undefined
  }

  function track(work: Promise<void>): void {
    const settled = work.catch(() => {}).finally(() => pending.delete(settled))
    pending.add(settled)
  }

  async function attempt(delivery: Delivery): Promise<void> {
    if (url === undefined) return lost(delivery, 'failed to connect to host')
    const body = JSON.stringify(delivery.payload)
    const signature = createHmac('sha256', world.app.webhookSecret).update(body).digest('hex')
    const headers = {
      connection: 'close',
      accept: '*/*',
      'content-type': 'application/json',
      'user-agent': 'GitHub-Hookshot/0000000',
      'x-github-delivery': delivery.guid,
      'x-github-event': delivery.event,
      'x-github-hook-id': '1',
      'x-github-hook-installation-target-id': String(world.app.id),
      'x-github-hook-installation-target-type': 'integration',
      'x-hub-signature-256': `sha256=${signature}`,
    }
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(longestAnswerMs)])
    try {
      const answer = await fetch(url, { method: 'POST', headers, body, signal })
      await answer.text()
      delivery.statusCode = answer.status
      delivery.status = answer.ok ? 'OK' : `Invalid HTTP Response: ${answer.status}`
    } catch {
      lost(delivery, signal.aborted ? 'timed out' : 'failed to connect to host')
    }
  }

  return {
    deliveries,
    emit,
    /** What the app's page has of them, besides the address. */
    config: { content_type: 'json', insecure_ssl: '0', secret: '********' },
    url: () => url,
    sendTo(newUrl: string | undefined) {
      url = newUrl
    },
    /** The next ones never arrive; GitHub has them as failed. */
    drop: (times = 1, event?: string) => void rules.push({ event, left: times, handling: { how: 'drop' } }),
    /** The next ones arrive twice, with the same GUID. */
    double: (times = 1, event?: string) => void rules.push({ event, left: times, handling: { how: 'double' } }),
    /** The next ones arrive `ms` later, others meanwhile. */
    delay: (ms: number, times = 1, event?: string) =>
      void rules.push({ event, left: times, handling: { how: 'delay', ms } }),
    /** Whatever was planned for the next ones is not done. */
    calm: () => void rules.splice(0),
    /** From now on nothing is sent, until `release`, which may change the order or leave some out. */
    hold() {
      held ??= []
    },
    release(arrange = (waiting: Delivery[]) => waiting) {
      const waiting = held ?? []
      held = undefined
      for (const delivery of arrange(waiting)) queue(delivery)
    },
    redeliver(delivery: Delivery): void {
      queue({ ...delivery, id: world.nextId(), redelivery: true, deliveredAt: world.now() })
    },
    /** Waits until all that was to be sent has been answered. */
    async settled() {
      while (pending.size > 0) await Promise.all(pending)
    },
    async close() {
      closing.abort(new Error('this GitHub was closed'))
      await this.settled()
    },
  }
}

type NewDelivery = {
  event: string
  action: string | undefined
  repository: HostedRepository | undefined
  payload: Record<string, unknown>
  installation: Installation
}

function lost(delivery: Delivery, status: string): void {
  delivery.status = status
  delivery.statusCode = 502
}
