import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { type Answer, answer, notFound } from './answers.ts'
import type { ApiRequest, Host } from './answer-request.ts'
import { appJson } from './bodies.ts'
import { answerExample } from './examples.ts'
import type { Call } from './routes.ts'
import type { Level } from './world.ts'

/**
 * How an app is made from a manifest: a page of this GitHub takes the form, sends the browser back with a code, and the code gives
 * the keys, once. The app that is made is the one that this GitHub has.
 */
export function isManifest({ method, path }: ApiRequest): boolean {
  return method === 'POST' && /^(?:\/organizations\/[\w-]+)?\/settings\/apps\/new$/.test(path)
}

const Manifest = z.strictObject({
  name: z.string().max(34).optional(),
  url: z.url(),
  hook_attributes: z.strictObject({ url: z.url(), active: z.boolean().optional() }).optional(),
  redirect_url: z.url().optional(),
  callback_urls: z.array(z.url()).max(10).optional(),
  setup_url: z.url().optional(),
  description: z.string().optional(),
  public: z.boolean().optional(),
  default_events: z.array(z.string()).optional(),
  default_permissions: z.record(z.string(), z.enum(['read', 'write', 'admin'])).optional(),
  request_oauth_on_install: z.boolean().optional(),
  setup_on_update: z.boolean().optional(),
})

/** The permission that GitHub asks for before an app may subscribe to an event. */
const permissionOf: Record<string, string> = {
  push: 'contents',
  pull_request: 'pull_requests',
  check_run: 'checks',
  check_suite: 'checks',
  issue_comment: 'issues',
}

export function takeManifest({ world, webhooks }: Pick<Host, 'world' | 'webhooks'>, request: ApiRequest): Answer {
  const form = new URLSearchParams(request.body.toString())
  const manifest = Manifest.parse(JSON.parse(form.get('manifest') ?? ''))
  const { default_permissions: permissions = {}, default_events: events = [], hook_attributes: hook } = manifest
  const refused = events.filter((event) => permissions[permissionOf[event] ?? ''] === undefined)
  if (refused.length > 0)
    return answer(422, { message: `Default events are not supported by permissions: ${refused.join(', ')}` })
  const granted: Record<string, Level> = { ...permissions, metadata: 'read' }
  Object.assign(world.app, { name: manifest.name ?? world.app.name, permissions: granted, events })
  webhooks.sendTo(hook === undefined || hook.active === false ? undefined : hook.url)
  const code = randomUUID().replaceAll('-', '')
  world.manifestCodes.add(code)
  const target = new URL(manifest.redirect_url ?? world.origin)
  target.searchParams.set('code', code)
  const state = request.query.get('state')
  if (state !== null) target.searchParams.set('state', state)
  return { status: 302, headers: { location: target.href } }
}

export function convertManifest({ world, parameters }: Call): Answer {
  if (!world.manifestCodes.delete(parameters['code'] ?? '')) return notFound()
  const { app } = world
  const secrets = { client_secret: randomUUID(), webhook_secret: app.webhookSecret, pem: app.privateKey }
  const example = answerExample('POST /app-manifests/{code}/conversions')
  return answer(201, { ...example, ...appJson(world), ...secrets })
}
