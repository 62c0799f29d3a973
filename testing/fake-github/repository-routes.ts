import { repositoryJson } from './account-json.ts'
import { answer, found, notFound, refuse } from './answers.ts'
import { diffTrees } from './git-diff.ts'
import { commitJson, diffJson, urlsOf } from './git-json.ts'
import { contentsRoute } from './contents-route.ts'
import { emptyTree } from './git-store.ts'
import { commitNamed } from './commit-named.ts'
import { type RepositoryCall, repositoryRoute } from './routes.ts'
import type { HostedRepository } from './world.ts'

const read = { contents: 'read' } as const
const repo = '/repos/{owner}/{repo}'

export const repositoryRoutes = [
  repositoryRoute(`GET ${repo}`, { metadata: 'read' }, ({ world, repository }) =>
    answer(200, repositoryJson(world, repository)),
  ),
  repositoryRoute(`GET ${repo}/branches/{branch}`, read, readBranch),
  repositoryRoute(`GET ${repo}/commits`, read, listCommits),
  repositoryRoute(`GET ${repo}/commits/{ref}`, read, readCommit),
  repositoryRoute(`GET ${repo}/compare/{basehead}`, read, compare),
  repositoryRoute(`GET ${repo}/tarball/{ref}`, read, redirectToTarball),
  contentsRoute,
]

async function readBranch({ world, repository, parameters }: RepositoryCall) {
  const name = parameters['branch'] ?? ''
  const { api, html } = urlsOf(world, repository)
  const tip = await repository.store.tip(`refs/heads/${name}`)
  if (tip === undefined) return refuse(404, 'Branch not found')
  const [commit] = await repository.store.readCommits([tip])
  const url = `${api}/branches/${encodeURI(name)}`
  return answer(200, {
    name,
    commit: commitJson(world, repository, found(commit)),
    _links: { self: url, html: `${html}/tree/${encodeURI(name)}` },
    protected: false,
    protection: { enabled: false, required_status_checks: { enforcement_level: 'off', contexts: [], checks: [] } },
    protection_url: `${url}/protection`,
  })
}

/** Newest first. */
async function listCommits({ world, repository, query }: RepositoryCall) {
  const { store } = repository
  const sha = await commitNamed(repository, query.get('sha') ?? repository.defaultBranch)
  if (sha === undefined) return notFound()
  const path = query.get('path')
  const shas = await store.lines(['rev-list', '--max-count=1000', sha, '--', ...(path === null ? [] : [path])])
  const commits = await store.readCommits(shas)
  return { items: commits.map((commit) => commitJson(world, repository, commit)) }
}

async function readCommit({ world, repository, parameters }: RepositoryCall) {
  const name = parameters['ref'] ?? ''
  const sha = await commitNamed(repository, name)
  if (sha === undefined) return refuse(422, `No commit found for SHA: ${name}`)
  const [commit] = await repository.store.readCommits([sha])
  const files = await diffTrees(repository.store, commit?.parents[0] ?? emptyTree, sha)
  const additions = files.reduce((sum, one) => sum + one.additions, 0)
  const deletions = files.reduce((sum, one) => sum + one.deletions, 0)
  return answer(200, {
    ...commitJson(world, repository, found(commit)),
    stats: { additions, deletions, total: additions + deletions },
    files: files.slice(0, 300).map((file) => diffJson(world, repository, file, sha)),
  })
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
  const counts = await store.fixed(['rev-list', '--left-right', '--count', `${base}...${head}`])
  const [behind = 0, ahead = 0] = counts.stdout.toString().trim().split(/\s+/).map(Number)
  const listed = (await store.fixed(['rev-list', '--reverse', `${base}..${head}`])).stdout.toString()
  const shas = listed.split('\n').slice(0, -1)
  const perPage = Math.min(Number(query.get('per_page') ?? 250), 250)
  const page = Number(query.get('page') ?? 1)
  const [baseCommit, startCommit, ...commits] = await store.readCommits([
    base,
    start,
    ...shas.slice((page - 1) * perPage, page * perPage),
  ])
  const files = page > 1 ? [] : await diffTrees(store, start, head)
  const { api, html } = urlsOf(world, repository)
  const htmlUrl = `${html}/compare/${encodeURIComponent(from)}...${encodeURIComponent(to)}`
  const status = ahead > 0 ? (behind > 0 ? 'diverged' : 'ahead') : behind > 0 ? 'behind' : 'identical'
  return answer(200, {
    url: `${api}/compare/${encodeURIComponent(from)}...${encodeURIComponent(to)}`,
    html_url: htmlUrl,
    permalink_url: `${html}/compare/${base}...${head}`,
    diff_url: `${htmlUrl}.diff`,
    patch_url: `${htmlUrl}.patch`,
    base_commit: commitJson(world, repository, found(baseCommit)),
    merge_base_commit: commitJson(world, repository, found(startCommit)),
    status,
    ahead_by: ahead,
    behind_by: behind,
    total_commits: ahead,
    commits: commits.map((commit) => commitJson(world, repository, commit)),
    files: files.slice(0, mostFiles).map((file) => diffJson(world, repository, file, head)),
  })
}

/** To an address that needs no token, but is good for five minutes only. */
async function redirectToTarball({ world, repository, parameters }: RepositoryCall) {
  const sha = await commitNamed(repository, parameters['ref'] || repository.defaultBranch)
  if (sha === undefined) return notFound()
  return { status: 302, headers: { location: world.downloads.addressOf(repository, sha) } }
}

/** As the archive that `git archive` makes, gzipped, in one top folder. */
export async function tarballOf(repository: HostedRepository, sha: string): Promise<Uint8Array> {
  const { owner, name, store } = repository
  const prefix = `${owner.login}-${name}-${sha.slice(0, 7)}/`
  return (await store.git(['archive', '--format=tar.gz', `--prefix=${prefix}`, sha])).stdout
}
