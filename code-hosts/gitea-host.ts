import { z } from 'zod'
import { AppError, type ErrorCode } from '#domain/error.ts'
import { parseJson } from '#domain/json.ts'
import { withoutLogins } from '#platform/hide-secrets.ts'
import { readAtMost } from '#platform/read-body.ts'
import type { HostLogin } from './open-git.ts'
import type {
  ChangeRequest,
  CodeHost,
  CommitState,
  OpenedChangeRequest,
  ReportedStatus,
  StatusReport,
} from './code-host.ts'

export type GiteaOptions = {
  /** Is the address as git pushes there: `https://git.example.org/ada/shop.git`, `git@git.example.org:ada/shop.git`. */
  url: string
  findLogin(address: string): Promise<HostLogin | undefined>
  signal: AbortSignal
}

type Repository = { site: string; owner: string; name: string }
type Gitea = Repository & { authorization: string; signal: AbortSignal }

const limitMs = 30_000
/** Gitea gives at most so many by default. */
const perPage = 50
/** Gitea and Forgejo know a draft by this. */
const draftPrefix = 'WIP: '
/** Longer ones are cut by the pages that show them. */
const mostDescription = 140

/** HOST_002: no Gitea is at the address, or not the repository. HOST_003: git knows no login that may do it. PUBLISH_001: it takes no pulls. */
export async function withGitea(remote: CodeHost, { url, findLogin, signal }: GiteaOptions): Promise<CodeHost> {
  const { address, ...repository } = repositoryAt(url)
  const login = await findLogin(address)
  if (login === undefined) {
    const where = withoutLogins(repository.site)
    const how = `a credential helper of git has it, or the address does (${where.replace('//', '//NAME:TOKEN@')}/…)`
    throw new AppError('HOST_003', `git knows no login for the API of ${where}: ${how}`)
  }
  const authorization = `Basic ${Buffer.from(`${login.username}:${login.password}`).toString('base64')}`
  const gitea = { ...repository, authorization, signal }
  await requireGitea(gitea)
  await requirePullRequests(gitea)
  return {
    ...remote,
    openChangeRequest: (request) => openPull(request, gitea),
    reportStatus: (report) => reportStatus(report, gitea),
  }
}

/** It takes `ssh://git@HOST:22/PATH`, and `git@HOST:PATH` as git does. */
const sshAddress = /^(?:ssh:\/\/)?(?:[^@/]+@)?(?<host>[\w.-]+)(?::\d+\/|[:/])(?<path>[^/].*)$/

/** Parses `SITE/OWNER/NAME.git`; the site of a repository that is reached by SSH is taken for that of the same host by HTTPS. */
function repositoryAt(url: string): Repository & { address: string } {
  const { host, path = '' } = sshAddress.exec(url)?.groups ?? {}
  const address = /^https?:\/\//.test(url) ? url : host === undefined ? '' : `https://${host}/${path}`
  const parsed = URL.canParse(address) ? new URL(address) : undefined
  const folders = (parsed?.pathname ?? '')
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
    .split('/')
  const [owner = '', name = ''] = folders.splice(-2)
  if (parsed !== undefined && owner !== '' && name !== '') {
    return { address, site: `${parsed.origin}${folders.join('/')}`, owner, name }
  }
  const text = `${JSON.stringify(withoutLogins(url))} names no repository of a Gitea or Forgejo: its address ends with OWNER/NAME.git`
  throw new AppError('CONFIG_003', text, { phase: 'usage' })
}

const Version = z.looseObject({ version: z.string() })

async function requireGitea(gitea: Gitea): Promise<void> {
  const answer = await ask('/version', { whole: true }, gitea)
  if (answer.status === 200 && Version.safeParse(answer.body).success) return
  const fault = refusal(answer, gitea)
  if (fault.code !== 'HOST_002' && answer.status !== 200) throw fault
  const text = `there is no Gitea or Forgejo at ${gitea.site}: only theirs can be asked for a pull request here`
  throw new AppError('HOST_002', text, { advised: true })
}

const Settings = z.looseObject({
  archived: z.boolean().default(false),
  has_pull_requests: z.boolean().default(true),
  permissions: z.looseObject({ push: z.boolean() }).optional(),
})

async function requirePullRequests(gitea: Gitea): Promise<void> {
  const settings = Settings.parse(await expectDone('GET', '', undefined, gitea))
  const { archived, has_pull_requests: takesPulls, permissions } = settings
  const where = `${gitea.owner}/${gitea.name} at ${gitea.site}`
  if (archived) throw new AppError('PUBLISH_001', `${where} is archived: it takes no changes`)
  if (!takesPulls) throw new AppError('PUBLISH_001', `${where} takes no pull requests: its settings turn them off`)
  if (permissions?.push === false) throw new AppError('HOST_003', `the login that git knows may not push to ${where}`)
}

const Pull = z.looseObject({
  number: z.int(),
  html_url: z.string(),
  body: z.string().nullable(),
  draft: z.boolean().default(false),
  base: z.looseObject({ ref: z.string() }),
  head: z.looseObject({ ref: z.string(), repo: z.looseObject({ full_name: z.string() }).nullable() }),
})
type Pull = z.infer<typeof Pull>

/** The text of an open pull request is updated. The rest is people's and stays: its title, draft state, labels and reviewers. */
async function openPull(request: ChangeRequest, gitea: Gitea): Promise<OpenedChangeRequest> {
  const { branch: head, baseBranch: base, title, body, isDraft } = request
  const open = await findPull(request, gitea)
  if (open === undefined) {
    const wanted = { head, base, body, title: isDraft ? `${draftPrefix}${title}` : title }
    const made = Pull.parse(await expectDone('POST', '/pulls', wanted, gitea))
    return { number: made.number, url: made.html_url, isDraft: made.draft, result: 'opened' }
  }
  if (open.body !== body) await expectDone('PATCH', `/pulls/${open.number}`, { body }, gitea)
  return { number: open.number, url: open.html_url, isDraft: open.draft, result: 'updated' }
}

/** Gitea's own search by both branches also finds those that are closed. */
async function findPull({ branch, baseBranch }: ChangeRequest, gitea: Gitea): Promise<Pull | undefined> {
  const fullName = `${gitea.owner}/${gitea.name}`.toLowerCase()
  for (let page = 1; ; page++) {
    const path = `/pulls?state=open&sort=recentupdate&limit=${perPage}&page=${page}`
    const pulls = z.array(Pull).parse(await expectDone('GET', path, undefined, gitea))
    const pull = pulls.find(
      ({ base, head }) =>
        base.ref === baseBranch && head.ref === branch && head.repo?.full_name.toLowerCase() === fullName,
    )
    // An operator may have it give fewer at once than were asked for.
    if (pull !== undefined || pulls.length === 0) return pull
  }
}

const Status = z.looseObject({
  id: z.int(),
  status: z.string(),
  context: z.string(),
  description: z.string(),
  target_url: z.string(),
})

const stateOf = {
  queued: 'pending',
  running: 'pending',
  success: 'success',
  neutral: 'warning',
  failure: 'failure',
  cancelled: 'error',
} as const satisfies Record<CommitState, string>

/** Adds a commit status, unless the newest one of that name says the same. Gitea keeps all of them and shows the newest. */
async function reportStatus({ commit, name, state, title, url }: StatusReport, gitea: Gitea): Promise<ReportedStatus> {
  const description = title.slice(0, mostDescription)
  const path = `/statuses/${commit}`
  const statuses = z
    .array(Status)
    .parse(await expectDone('GET', `${path}?sort=recentupdate&limit=${perPage}`, undefined, gitea))
  const last = statuses.filter(({ context }) => context === name).toSorted((left, right) => right.id - left.id)[0]
  const wanted = { context: name, state: stateOf[state], description, target_url: url ?? '' }
  const isSaid =
    last?.status === wanted.state && last.description === description && last.target_url === wanted.target_url
  if (isSaid) return { id: last.id }
  return { id: Status.parse(await expectDone('POST', path, wanted, gitea)).id }
}

type Method = 'GET' | 'PATCH' | 'POST'
/** `whole` asks not about the repository, but about all of the host. */
type Asked = { method?: Method; body?: object | undefined; whole?: boolean }
type Answer = { status: number; body: unknown; location: string | null }

async function expectDone(method: Method, path: string, body: object | undefined, gitea: Gitea): Promise<unknown> {
  const answer = await ask(path, { method, body }, gitea)
  if (answer.status >= 200 && answer.status < 300) return answer.body
  throw refusal(answer, gitea)
}

/** Its largest answers are lists of a page of pull requests with their texts. */
const mostAnswered = 16_000_000

/** Addresses that lead elsewhere are not followed: a login must not go there, and a POST would become a GET. */
async function ask(path: string, { method = 'GET', body, whole = false }: Asked, gitea: Gitea): Promise<Answer> {
  const { site, owner, name, authorization, signal } = gitea
  const of = whole ? '' : `/repos/${owner}/${name}`
  const headers = { authorization, accept: 'application/json', 'content-type': 'application/json' }
  try {
    const answer = await fetch(`${site}/api/v1${of}${path}`, {
      method,
      headers,
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(limitMs)]),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const bytes = await readAtMost(answer.body, mostAnswered)
    if (bytes.byteLength > mostAnswered)
      throw new AppError('HOST_001', `${site} answers with more than ${mostAnswered} bytes`)
    const text = Buffer.from(bytes).toString()
    return { status: answer.status, body: parseJson(text), location: answer.headers.get('location') }
  } catch (cause) {
    signal.throwIfAborted()
    if (cause instanceof AppError) throw cause
    const why = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
    throw new AppError('HOST_001', `${site} does not answer: ${String(why)}`, { cause })
  }
}

const Refused = z.looseObject({ message: z.string() })

function refusal({ status, body, location }: Answer, { site, owner, name }: Gitea): AppError {
  const message = Refused.safeParse(body).data?.message.slice(0, 300) ?? ''
  const text = `${site} answers ${status} for ${owner}/${name}${message === '' ? '' : `: ${message}`}`
  if (location !== null)
    return new AppError('HOST_002', `${text}; it is at ${withoutLogins(location)} by now`, { advised: true })
  return new AppError(codeOf(status), text, { advised: true })
}

function codeOf(status: number): ErrorCode {
  if (status === 401 || status === 403) return 'HOST_003'
  if (status === 404) return 'HOST_002'
  return status === 429 || status >= 500 ? 'HOST_001' : 'PUBLISH_001'
}
