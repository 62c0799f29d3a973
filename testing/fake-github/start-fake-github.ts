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
import { type RecordedRequest, openServer } from './github-server.ts'
import { type NewInstallation, installApp } from './installation-acts.ts'
import { issueRoutes } from './issue-routes.ts'
import { isManifest, takeManifest } from './manifest-flow.ts'
import { pullRoutes } from './pull-routes.ts'
import { openRateLimits } from './rate-limits.ts'
import { repositoryRoutes, serveTarball } from './repository-routes.ts'
import { openWebhooks } from './webhooks.ts'
import type { HostedApp, Level, Permissions, World } from './world.ts'

export type FakeGitHubOptions = {
  webhookUrl?: string
  app?: { permissions?: Permissions; events?: string[] }
  /** Requests an hour of each installation. */
  rateLimit?: number
}

export type FakeGitHub = Awaited<ReturnType<typeof startFakeGitHub>>

/**
 * A GitHub of this machine, with real git repositories, that answers as GitHub does to an app, and sends its webhooks. All that it
 * is asked and answers is held against GitHub's own OpenAPI document; `close` throws if anything did not match.
 */
export async function startFakeGitHub(options: FakeGitHubOptions = {}) {
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
      return serveTarball(world, request) ?? (request.method === 'GET' ? work() : world.inTurn(work))
    },
  })
  const world = newWorld({ origin: server.origin, app: appOf(options), now })
  const webhooks = openWebhooks(world, { url: options.webhookUrl, onViolation })
  const limits = openRateLimits(world, { limit: options.rateLimit ?? 5_000 })
  const all = [...appRoutes, ...repositoryRoutes, ...gitDataRoutes, ...pullRoutes, ...issueRoutes, ...checkRoutes]
  const routes = new Map(all.map((route) => [route.operation, route]))
  const host = { world, webhooks, limits, routes, onViolation }

  async function pushed({ path, body }: ApiRequest): Promise<Answer> {
    await takePush({ world, webhooks }, { path, body: body.toString() }).catch((error: unknown) =>
      onViolation(`git push: ${String(error)}`),
    )
    return answer(200)
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
    expireTokens() {
      world.tokens.clear()
    },
    /** For a test that means to violate the API: what was found since the last call. */
    takeViolations: () => violations.splice(0),
    /** Throws if something was asked, answered or sent that GitHub would not. */
    async close(): Promise<void> {
      closing = true
      await webhooks.close()
      await server.close()
      await world.inTurn(() => Promise.resolve())
      await rm(folder, { recursive: true, force: true })
      if (violations.length > 0) throw new Error(`not as GitHub has it:\n${violations.join('\n')}`)
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

function appOf({ app: { permissions = rights, events = usualEvents } = {} }: FakeGitHubOptions): HostedApp {
  const [id, slug] = [4_217, 'remora-test']
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
    webhookSecret: randomUUID(),
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

function newWorld(given: Pick<World, 'origin' | 'app' | 'now'>): World {
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
