import { Octokit } from '@octokit/core'
import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import { orHostError, statusOf } from './github-client.ts'

/** Comments on pull requests need `pull_requests`; but GitHub only lets an app that may read issues subscribe to `issue_comment`. */
const neededPermissions = {
  checks: 'write',
  contents: 'write',
  issues: 'read',
  metadata: 'read',
  pull_requests: 'write',
} as const

/** Those of its installations come to every app. */
const neededEvents = ['check_run', 'check_suite', 'issue_comment', 'pull_request', 'push'] as const

const levels = ['read', 'write', 'admin']

export function lacksOfApp(granted: {
  permissions: Readonly<Record<string, unknown>>
  events: readonly string[]
}): string[] {
  const permissions = Object.entries(neededPermissions).filter(
    ([name, level]) => levels.indexOf(String(granted.permissions[name])) < levels.indexOf(level),
  )
  const events = neededEvents.filter((event) => !granted.events.includes(event))
  return [
    ...permissions.map(([name, level]) => `permission ${name}: ${level}`),
    ...events.map((name) => `event ${name}`),
  ]
}

export type WantedApp = {
  name: string
  homepage: string
  /** When it is undefined, GitHub sends no webhooks, and keeps none. */
  webhookUrl: string | undefined
  /** GitHub sends the browser here, with the code, once the app is made. */
  redirectUrl: string
}

/** GitHub fills this form in for a new app; only its owner can install it. */
export function appManifest({ name, homepage, webhookUrl, redirectUrl }: WantedApp) {
  return {
    name,
    url: homepage,
    // GitHub wants an address of a webhook that is off, too.
    hook_attributes: { url: webhookUrl ?? homepage, active: webhookUrl !== undefined },
    redirect_url: redirectUrl,
    public: false,
    default_permissions: neededPermissions,
    default_events: neededEvents,
  }
}

export type AppManifest = ReturnType<typeof appManifest>

const Converted = z.looseObject({
  id: z.int(),
  slug: z.string().regex(/^[\w.-]+$/),
  name: z.string(),
  html_url: z.url({ protocol: /^https?$/ }),
  pem: z.string().startsWith('-----BEGIN'),
  webhook_secret: z.string().nullish(),
})

export type NewApp = {
  id: number
  slug: string
  name: string
  page: string
  privateKey: string
  /** Is undefined when GitHub has made none. */
  webhookSecret: string | undefined
}

/** Throws HOST_002 for a code that GitHub does not know; it takes each once, within an hour. Throws HOST_001 when it does not answer. */
export async function convertManifest(apiUrl: string, code: string): Promise<NewApp> {
  const client = new Octokit({ baseUrl: apiUrl, request: { timeout: requestMs } })
  const answer = client.request('POST /app-manifests/{code}/conversions', { code })
  const { data } = await orHostError(answer).catch((error: unknown) => {
    if (statusOf(error) !== 404 && statusOf(error) !== 422) throw error
    const why = 'it was used before, is older than an hour, or is of another GitHub'
    throw new AppError('HOST_002', `GitHub does not know this code of an app (${why}): begin again`, { cause: error })
  })
  const made = Converted.safeParse(data)
  if (!made.success)
    throw new AppError('HOST_001', `${apiUrl} does not answer as GitHub does: ${z.prettifyError(made.error)}`)
  const { id, slug, name, html_url: page, pem, webhook_secret: secret } = made.data
  return { id, slug, name, page, privateKey: pem, webhookSecret: secret ?? undefined }
}

const requestMs = 30_000
