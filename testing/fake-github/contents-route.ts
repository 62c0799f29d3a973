import { answer, found, notFound, rawAnswer } from './answers.ts'
import { commitNamed } from './commit-named.ts'
import { urlsOf } from './git-json.ts'
import type { GitEntry } from './git-store.ts'
import { type RepositoryCall, repositoryRoute } from './routes.ts'

/** A file with its content, or as it is when `raw` is accepted; of a folder what is in it. */
export const contentsRoute = repositoryRoute(
  'GET /repos/{owner}/{repo}/contents/{path}',
  { contents: 'read' },
  readContents,
)

const mostBytes = 1024 * 1024

async function readContents(call: RepositoryCall) {
  const { repository, parameters, query, accept } = call
  const { store } = repository
  const path = (parameters['path'] ?? '').replaceAll(/^\/|\/$/g, '')
  const ref = query.get('ref') ?? repository.defaultBranch
  const commit = await commitNamed(repository, ref)
  if (commit === undefined) return notFound()
  const tree = path === '' ? `${commit}^{tree}` : `${commit}:${path}`
  const { stdout } = await store.fixed(['rev-parse', '--verify', '--quiet', tree], { allow: [1, 128] })
  const sha = stdout.toString().trim()
  if (sha === '') return notFound()
  if (await store.has(sha, 'tree')) {
    const entries = await store.readTree(sha, false)
    return answer(
      200,
      entries.map((one) => entryJson(call, { ...one, path: path === '' ? one.path : `${path}/${one.path}` }, ref)),
    )
  }
  if (!(await store.has(sha, 'blob'))) {
    const entry = entryJson(call, { path, mode: '160000', type: 'commit', sha }, ref)
    return answer(200, { ...entry, submodule_git_url: entry.html_url })
  }
  const bytes = await store.readBlob(sha)
  if (/raw/.test(accept)) return rawAnswer(bytes)
  const listed = await store.fixed(['ls-tree', '-z', '--long', commit, '--', path])
  const mode = found(listed.stdout.toString().split(' ')[0])
  const entry = entryJson(call, { path, mode, type: 'blob', sha, size: bytes.length }, ref)
  if (entry.type === 'symlink') return answer(200, { ...entry, target: bytes.toString() })
  const small = bytes.length <= mostBytes
  const content = small ? bytes.toString('base64').replaceAll(/.{60}/g, '$&\n') : ''
  return answer(200, { ...entry, content, encoding: small ? 'base64' : 'none' })
}

function entryJson({ world, repository }: RepositoryCall, entry: GitEntry, ref: string) {
  const { api, html } = urlsOf(world, repository)
  const path = encodeURI(entry.path)
  const self = `${api}/contents/${path}?ref=${encodeURIComponent(ref)}`
  const kind =
    entry.mode === '120000' ? 'symlink' : entry.type === 'tree' ? 'dir' : entry.type === 'commit' ? 'submodule' : 'file'
  const git = `${api}/git/${entry.type}s/${entry.sha}`
  const page = `${html}/${entry.type}/${encodeURIComponent(ref)}/${path}`
  return {
    name: entry.path.split('/').at(-1) ?? '',
    path: entry.path,
    sha: entry.sha,
    size: entry.size ?? 0,
    url: self,
    html_url: page,
    git_url: git,
    download_url: kind === 'file' ? `${html}/raw/${encodeURIComponent(ref)}/${path}` : null,
    type: kind,
    _links: { self, git, html: page },
  }
}
