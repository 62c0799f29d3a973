import type { ApiRequest } from './answer-request.ts'
import { type Answer, answer, found, notFound, refuse } from './answers.ts'
import { accountJson, commitJson, repositoryJson } from './bodies.ts'
import { answerExample, entryExample, like } from './examples.ts'
import type { GitStore } from './git-store.ts'
import { type RepositoryCall, repositoryRoute } from './routes.ts'
import { type HostedRepository, type World, accountOf, levelOf } from './world.ts'

const read = { contents: 'read' } as const
const metadata = { metadata: 'read' } as const
const repo = '/repos/{owner}/{repo}'

export const repositoryRoutes = [
  repositoryRoute(`GET ${repo}`, metadata, ({ world, repository }) => answer(200, repositoryJson(world, repository))),
  repositoryRoute(`GET ${repo}/commits/{ref}`, read, readCommit),
  repositoryRoute(`GET ${repo}/compare/{basehead}`, read, compare),
  repositoryRoute(`GET ${repo}/contents/{path}`, read, readContents),
  repositoryRoute(`GET ${repo}/tarball/{ref}`, read, redirectToTarball),
  repositoryRoute(`GET ${repo}/collaborators/{username}/permission`, metadata, readPermission),
]

/** The commit that a branch, a tag, a full ref or the start of an id names, as GitHub reads it. */
async function commitNamed({ store }: HostedRepository, name: string): Promise<string | undefined> {
  // Git would take such a name for an option or an expression.
  if (name === '' || /^-|[\s~^:?*[\\]|\.\.|@\{/.test(name)) return undefined
  for (const ref of [`refs/heads/${name}`, `refs/tags/${name}`, name.replace(/^(?=heads\/|tags\/)/, 'refs/')]) {
    const sha = ref.startsWith('refs/') ? await store.tip(ref) : undefined
    if (sha !== undefined) return sha
  }
  return /^[0-9a-f]{7,40}$/.test(name) ? store.tip(name) : undefined
}

async function readCommit({ world, repository, parameters }: RepositoryCall) {
  const name = parameters['ref'] ?? ''
  const sha = await commitNamed(repository, name)
  if (sha === undefined) return refuse(422, `No commit found for SHA: ${name}`)
  const commit = commitJson(world, repository, await repository.store.readCommit(sha))
  return answer(200, like(answerExample(`GET ${repo}/commits/{ref}`), { ...commit, files: [] }))
}

const mostFiles = 300

/** All files are on the first page, up to 300 of them; the commits come in pages. */
async function compare({ world, repository, parameters, query }: RepositoryCall) {
  const { store } = repository
  const [from = '', to = ''] = (parameters['basehead'] ?? '').split('...')
  const [base, head] = [await commitNamed(repository, from), await commitNamed(repository, to)]
  if (base === undefined || head === undefined) return notFound()
  const start = await store.mergeBase(base, head)
  if (start === undefined) return refuse(404, `No common ancestor between ${from} and ${to}.`)
  const listed = (await store.fixed(['rev-list', '--reverse', `${base}..${head}`])).stdout.toString()
  const shas = listed.split('\n').slice(0, -1)
  const [page, perPage] = [Number(query.get('page') ?? 1), Number(query.get('per_page') ?? 250)]
  const json = async (sha: string) => commitJson(world, repository, await store.readCommit(sha))
  return answer(
    200,
    like(answerExample(`GET ${repo}/compare/{basehead}`), {
      base_commit: await json(base),
      merge_base_commit: await json(start),
      ahead_by: shas.length,
      total_commits: shas.length,
      commits: await Promise.all(shas.slice((page - 1) * perPage, page * perPage).map(json)),
      files: page > 1 ? [] : (await changedFiles(store, start, head)).slice(0, mostFiles),
    }),
  )
}

const statuses: Record<string, string> = { A: 'added', D: 'removed', M: 'modified', R: 'renamed' }

/** What changed from one commit to another, as git sees it. */
async function changedFiles(store: GitStore, from: string, to: string) {
  const { stdout } = await store.fixed(['diff-tree', '-r', '-M', '-z', '--name-status', from, to])
  const fields = stdout.toString().split('\0')
  const example = entryExample(`GET ${repo}/compare/{basehead}`, 'files')
  const files = []
  for (let at = 0; at < fields.length - 1;) {
    const letter = fields[at]?.slice(0, 1) ?? ''
    const [before, after] = letter === 'R' ? [fields[at + 1], fields[at + 2]] : [undefined, fields[at + 1]]
    at += letter === 'R' ? 3 : 2
    const renamed = before === undefined ? {} : { previous_filename: before }
    files.push(like(example, { filename: after, status: statuses[letter] ?? 'modified', ...renamed }))
  }
  return files
}

/** A file as it is; a client is to ask for that. Of a folder, that it is one. */
async function readContents({ repository, parameters, query }: RepositoryCall) {
  const { store, defaultBranch } = repository
  const commit = found(await commitNamed(repository, query.get('ref') ?? defaultBranch))
  const named = ['rev-parse', '--verify', '--quiet', `${commit}:${parameters['path'] ?? ''}`]
  const sha = (await store.fixed(named, { allow: [1, 128] })).stdout.toString().trim()
  if (sha === '') return notFound()
  if (!(await store.has(sha, 'blob'))) return answer(200, [])
  const headers = { 'content-type': 'application/vnd.github.raw+json; charset=utf-8' }
  return { status: 200, bytes: await store.readBlob(sha), headers }
}

/** To an address that needs no token. */
async function redirectToTarball({ world, repository, parameters }: RepositoryCall) {
  const sha = found(await commitNamed(repository, parameters['ref'] ?? ''))
  return { status: 302, headers: { location: `${world.origin}/-/tarballs/${repository.id}/${sha}` } }
}

/** An archive as `git archive` makes it, gzipped, in one top folder. Undefined: the path is none's. */
export function serveTarball({ repositories }: World, { path }: ApiRequest): Promise<Answer> | undefined {
  const [, id = '', sha = ''] = /^\/-\/tarballs\/(\d+)\/(\w+)$/.exec(path) ?? []
  const repository = repositories.get(Number(id))
  if (repository === undefined) return undefined
  const prefix = `${repository.owner.login}-${repository.name}-${sha.slice(0, 7)}/`
  const archived = repository.store.git(['archive', '--format=tar.gz', `--prefix=${prefix}`, sha])
  return archived.then(({ stdout }) => ({
    status: 200,
    bytes: stdout,
    headers: { 'content-type': 'application/x-gzip' },
  }))
}

function readPermission({ world, repository, parameters }: RepositoryCall) {
  const login = parameters['username'] ?? ''
  const permission = levelOf(repository, login)
  const user = { ...accountJson(world, accountOf(world, login)), role_name: permission }
  const example = answerExample(`GET ${repo}/collaborators/{username}/permission`)
  return answer(200, like(example, { permission, role_name: permission, user }))
}
