import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { parseJson } from '#domain/json.ts'
import type { Answer } from './fake-github/answers.ts'
import type { ApiRequest } from './fake-github/answer-request.ts'
import { runBackend } from './fake-github/git-http.ts'
import { openServer } from './fake-github/github-server.ts'
import { openFaults } from './fake-github/network-faults.ts'
import { runGit } from './fake-github/run-git.ts'

type Login = { username: string; password: string }

/** A running Gitea, real or not, with one repository, its owner, and somebody who may only read it. */
export type TestGitea = {
  /** Of the repository; git and the API take the login that is in it. */
  url: string
  /** The same without a login. */
  bareUrl: string
  login: Login
  reader: Login
  close(): Promise<void>
}

const OpenPull = z.object({ head: z.string(), base: z.string(), title: z.string(), body: z.string().default('') })
const EditPull = OpenPull.pick({ title: true, body: true })
  .extend({ state: z.enum(['open', 'closed']) })
  .partial()
const NewStatus = z.object({
  context: z.string(),
  state: z.enum(['pending', 'success', 'error', 'failure', 'warning']),
  description: z.string(),
  target_url: z.string().default(''),
})

type Pull = z.infer<typeof OpenPull> & { number: number; state: string }
type Status = z.infer<typeof NewStatus> & { sha: string; id: number }

const EditRepository = z.object({ has_pull_requests: z.boolean(), archived: z.boolean() }).partial()

const person: Login = { username: 'ada', password: 'token-of-ada-0123456789' }
const reader: Login = { username: 'eve', password: 'token-of-eve-0123456789' }

/**
 * The few routes of Gitea's API that are used here, over real git; gitea-host.integration.test.ts holds it against a real one, where there
 * is one (REMORA_TEST_GITEA).
 */
export async function startFakeGitea(): Promise<TestGitea & { gitPath: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'remora-fake-gitea-'))
  await mkdir(join(folder, 'ada'))
  await runGit(folder, ['init', '-q', '--bare', '-b', 'main', 'ada/shop.git'])
  await runGit(folder, ['-C', 'ada/shop.git', 'config', 'http.receivepack', 'true'])
  const answer = openApi(join(folder, 'ada/shop.git'), () => server.origin)
  const server = await openServer({
    faults: openFaults(),
    requests: [],
    watch() {},
    answer,
    push: (request) => {
      if (!request.path.startsWith('/ada/shop.git/')) return undefined
      if (isOf(person, request)) return runBackend(folder, request, person.username)
      return Promise.resolve({ status: 401, headers: { 'www-authenticate': 'Basic realm="Gitea"' } })
    },
    now: () => new Date(),
  })
  const bareUrl = `${server.origin}/ada/shop.git`
  return {
    url: bareUrl.replace('//', `//${person.username}:${person.password}@`),
    bareUrl,
    login: person,
    reader,
    gitPath: join(folder, 'ada/shop.git'),
    async close() {
      await server.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function isOf({ username, password }: Login, { headers }: ApiRequest): boolean {
  const basic = Buffer.from(`${username}:${password}`).toString('base64')
  return headers['authorization'] === `Basic ${basic}`
}

type Act = (request: ApiRequest, part: string) => Promise<Answer> | Answer
type Route = readonly [method: string, path: RegExp, act: Act]

function openApi(gitDir: string, origin: () => string) {
  const version: Act = () => ({ status: 200, body: { version: '1.24.0-fake' } })
  const routes: Route[] = [
    ['GET', /^version$/, version],
    ...repositoryRoutes(),
    ...pullRoutes(gitDir, origin),
    ...statusRoutes(),
  ]
  return async (request: ApiRequest): Promise<Answer> => {
    const path = request.path.replace(/^\/api\/v1\//, '')
    const isKnown = [person, reader].some((login) => isOf(login, request))
    if (!isKnown) return { status: 401, body: { message: 'user does not exist' } }
    const found = routes.find(([method, pattern]) => method === request.method && pattern.test(path))
    if (found === undefined) return missing()
    const [, pattern, act] = found
    return act(request, pattern.exec(path)?.[1] ?? '')
  }
}

function repositoryRoutes(): Route[] {
  const settings = { has_pull_requests: true, archived: false, empty: false }
  const shown = (request: ApiRequest): Answer => {
    const isOwner = isOf(person, request)
    return { status: 200, body: { ...settings, permissions: { admin: isOwner, push: isOwner, pull: true } } }
  }
  const edit: Act = (request) => {
    Object.assign(settings, EditRepository.parse(parseJson(request.body.toString())))
    return shown(request)
  }
  const of = /^repos\/ada\/shop$/
  return [
    ['GET', of, shown],
    ['PATCH', of, edit],
  ]
}

function pullRoutes(gitDir: string, origin: () => string): Route[] {
  const pulls: Pull[] = []
  const headOf = async (branch: string) => {
    const asked = ['rev-parse', '--verify', '-q', `refs/heads/${branch}`]
    const { code, stdout } = await runGit(gitDir, asked, { allow: [1] })
    return code === 0 ? stdout.toString().trim() : undefined
  }
  const shown = async ({ number, state, title, body, base, head }: Pull) => {
    const at = { ref: head, sha: await headOf(head), repo: { full_name: 'ada/shop' } }
    const draft = title.startsWith('WIP:')
    const address = `${origin()}/ada/shop/pulls/${number}`
    return { number, html_url: address, state, title, body, draft, base: { ref: base }, head: at }
  }
  const list: Act = async ({ query }) => {
    const found = pulls.filter(({ state }) => state === query.get('state')).toReversed()
    const [limit, page] = [Number(query.get('limit')), Number(query.get('page'))]
    return { status: 200, body: await Promise.all(found.slice((page - 1) * limit, page * limit).map(shown)) }
  }
  const open: Act = async ({ body }) => {
    const wanted = OpenPull.parse(parseJson(body.toString()))
    if ((await headOf(wanted.head)) === undefined || (await headOf(wanted.base)) === undefined) return missing()
    const isSame = (one: Pull) => one.state === 'open' && one.head === wanted.head && one.base === wanted.base
    if (pulls.some(isSame)) return { status: 409, body: { message: 'pull request already exists for these targets' } }
    const made = { ...wanted, number: pulls.length + 1, state: 'open' }
    pulls.push(made)
    return { status: 201, body: await shown(made) }
  }
  const edit: Act = async ({ body }, number) => {
    const pull = pulls.find((one) => one.number === Number(number))
    if (pull === undefined) return missing()
    Object.assign(pull, EditPull.parse(parseJson(body.toString())))
    return { status: 201, body: await shown(pull) }
  }
  const all = /^repos\/ada\/shop\/pulls$/
  const get: Act = async (_, number) => {
    const pull = pulls.find((one) => one.number === Number(number))
    return pull === undefined ? missing() : { status: 200, body: await shown(pull) }
  }
  const one = /^repos\/ada\/shop\/pulls\/(\d+)$/
  return [
    ['GET', all, list],
    ['POST', all, open],
    ['GET', one, get],
    ['PATCH', one, edit],
  ]
}

function statusRoutes(): Route[] {
  const statuses: Status[] = []
  const of = /^repos\/ada\/shop\/statuses\/([0-9a-f]{40})$/
  const list: Act = (_, sha) => {
    return {
      status: 200,
      body: statuses
        .filter((one) => one.sha === sha)
        .map(statusBody)
        .toReversed(),
    }
  }
  const add: Act = ({ body }, sha) => {
    const status = { ...NewStatus.parse(parseJson(body.toString())), sha, id: statuses.length + 1 }
    statuses.push(status)
    return { status: 201, body: statusBody(status) }
  }
  return [
    ['GET', of, list],
    ['POST', of, add],
  ]
}

function statusBody({ sha: _sha, state, ...status }: Status) {
  return { ...status, status: state }
}

function missing(): Answer {
  return { status: 404, body: { message: "The target couldn't be found." } }
}
