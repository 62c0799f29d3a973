import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Answer, answer } from './answers.ts'
import { type ApiRequest, answerRequest } from './answer-request.ts'
import { appRoutes } from './app-routes.ts'
import { checkRoutes } from './check-routes.ts'
import { type Moment, openFaults } from './network-faults.ts'
import { gitDataRoutes } from './git-data-routes.ts'
import { type NewRepository, addRepository, isPush, takePush } from './host-repository.ts'
import { serveGit } from './git-http.ts'
import { type RecordedRequest, openServer } from './github-server.ts'
import { type NewInstallation, installApp } from './installation-acts.ts'
import { issueRoutes } from './issue-routes.ts'
import { isManifest, takeManifest } from './manifest-flow.ts'
import { pullRoutes } from './pull-routes.ts'
import { openRateLimits } from './rate-limits.ts'
import { repositoryRoutes, tarballOf } from './repository-routes.ts'
import { openWebhooks } from './webhooks.ts'
import type { HostedApp, HostedRepository, Level, Permissions, World } from './world.ts'

export type FakeGitHubOptions = {
  webhookUrl?: string
  webhookSecret?: string
  app?: { id?: number; slug?: string; permissions?: Permissions; events?: string[] }
  /** Requests an hour of each installation. */
  rateLimit?: number
  /** 100,000 by default, as on GitHub. */
  mostTreeEntries?: number
}

export type FakeGitHub = Awaited<ReturnType<typeof startFakeGitHub>>

/**
 * A GitHub of this machine, with real git repositories, that answers as GitHub does to an app, and sends its webhooks. All that it
 * is asked and answers is held against GitHub's own OpenAPI document; `close` throws if anything did not match.
 */
export async function startFakeGitHub(options: FakeGitHubOptions = {}) {
  const { mostTreeEntries = 100_000 } = options
  const folder = await mkdtemp(join(tmpdir(), 'fake-github-'))
  const violations: string[] = []
  let closing = false
  const onViolation = (reason: string) => {
    if (!closing) violations.push(reason) // what is asked while it closes finds no repositories any more
  }
  const clock = { aheadMs: 0 }
  const now = () => new Date(Date.now() + clock.aheadMs)
  const requests: RecordedRequest[] = []
  const faults = openFaults()
  let watcher: (moment: Moment) => void | Promise<void> = () => {}

  const server = await openServer({
    faults,
    requests,
    now,
    watch: (moment) => watcher(moment),
    push: (request) => (isPush(request.path) ? world.inTurn(() => pushed(request)) : undefined),
    answer(request) {
      const work = () => answerRequest(host, request)
      if (isManifest(request)) return world.inTurn(async () => takeManifest({ world, webhooks }, request))
      const besides = downloads.take(request) ?? serveGit({ world, folder }, request)
      return besides ?? (request.method === 'GET' ? work() : world.inTurn(work))
    },
  })
  const downloads = openDownloads(server.origin, now)
  const world = newWorld({ origin: server.origin, app: appOf(options), downloads, mostTreeEntries, now })
  const webhooks = openWebhooks(world, { url: options.webhookUrl, onViolation })
  const limits = openRateLimits(world, { limit: options.rateLimit ?? 5_000 })
  const all = [...appRoutes, ...repositoryRoutes, ...gitDataRoutes, ...pullRoutes, ...issueRoutes, ...checkRoutes]
  const routes = new Map(all.map((route) => [route.operation, route]))
  const host = { world, webhooks, limits, routes, onViolation }

  async function pushed({ path, body, headers }: ApiRequest): Promise<Answer> {
    const push = { path, body: body.toString(), pusher: headers['x-pusher'] ?? '' }
    await takePush({ world, webhooks }, push).catch((error: unknown) => onViolation(`git push: ${String(error)}`))
    return answer(200)
  }

  function expectSound(): void {
    if (violations.length > 0) throw new Error(`not as GitHub has it:\n${violations.join('\n')}`)
  }

  return {
    apiUrl: server.origin,
    app: world.app,
    requests,
    faults,
    webhooks,
    rateLimit: limits,
    addRepository: (wanted: NewRepository) => world.inTurn(() => addRepository({ world, webhooks, folder }, wanted)),
    install: (wanted: NewInstallation) => installApp({ world, webhooks }, wanted),
    /** Called before and after the effect of each request, which waits for it. */
    watch(listener: (moment: Moment) => void | Promise<void>) {
      watcher = listener
    },
    /** Moves the clock of this GitHub. */
    advance(ms: number) {
      clock.aheadMs += ms
    },
    /** Registers the app from its manifest, as in a browser; the code that comes back is good once. */
    registerFromManifest(): string {
      const code = randomUUID().replaceAll('-', '')
      world.manifestCodes.add(code)
      return code
    },
    expireTokens() {
      world.tokens.clear()
    },
    /** For a test that means to violate the API: what was found since the last call. */
    takeViolations: () => violations.splice(0),
    expectSound,
    /** Throws if something was asked, answered or sent that GitHub would not. */
    async close(): Promise<void> {
      closing = true
      await webhooks.close()
      await server.close()
      await world.inTurn(() => Promise.resolve())
      await rm(folder, { recursive: true, force: true })
      expectSound()
    },
  }
}

const rights: Permissions = {
  contents: 'write',
  pull_requests: 'write',
  checks: 'write',
  issues: 'read',
  metadata: 'read',
}
const usualEvents = ['push', 'pull_request', 'check_run', 'check_suite', 'issue_comment']

function appOf({ app = {}, webhookSecret = randomUUID() }: FakeGitHubOptions): HostedApp {
  const { id = 4_217, slug = 'remora-test', permissions = rights, events = usualEvents } = app
  const { privateKey, publicKey } = keyPair()
  const granted: Record<string, Level> = { ...permissions, metadata: 'read' }
  return {
    id,
    slug,
    name: slug,
    clientId: `Iv1.${id}`,
    privateKey,
    publicKey,
    permissions: granted,
    events,
    webhookSecret,
  }
}

let keys: Pick<HostedApp, 'privateKey' | 'publicKey'> | undefined

/** The same in the whole process: to make one takes long. */
function keyPair() {
  keys ??= generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  return keys
}

function newWorld(given: Pick<World, 'origin' | 'app' | 'downloads' | 'mostTreeEntries' | 'now'>): World {
  let lastId = 1_000
  let lastChange: Promise<unknown> = Promise.resolve()
  return {
    ...given,
    accounts: new Map(),
    repositories: new Map(),
    installations: new Map(),
    tokens: new Map(),
    manifestCodes: new Set(),
    nextId: () => ++lastId,
    inTurn(work) {
      const turn = lastChange.then(work)
      lastChange = turn.catch(() => {})
      return turn
    },
  }
}

const addressMs = 5 * 60_000

function openDownloads(origin: string, now: () => Date) {
  const addresses = new Map<string, { repository: HostedRepository; sha: string; until: number }>()
  return {
    addressOf(repository: HostedRepository, sha: string): string {
      const path = `/-/tarballs/${randomUUID()}`
      addresses.set(path, { repository, sha, until: now().getTime() + addressMs })
      return `${origin}${path}`
    },
    /** Undefined: the path is no archive's. */
    take({ path }: ApiRequest): Promise<Answer> | undefined {
      if (!path.startsWith('/-/tarballs/')) return undefined
      const known = addresses.get(path)
      if (known === undefined || known.until < now().getTime()) return Promise.resolve({ status: 404 })
      return tarballOf(known.repository, known.sha).then((bytes) => ({
        status: 200,
        bytes,
        headers: { 'content-type': 'application/x-gzip' },
      }))
    },
  }
}
