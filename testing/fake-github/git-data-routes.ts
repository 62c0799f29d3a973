import { z } from 'zod'
import { answer, found, notFound, rawAnswer, refuse } from './answers.ts'
import { allows, granted } from './authenticate.ts'
import { botPerson, gitCommitJson, refJson, urlsOf } from './git-json.ts'
import { isPlainName } from './commit-named.ts'
import { nodeId } from './account-json.ts'
import { type RepositoryCall, bodyOf, repositoryRoute } from './routes.ts'
import { moveRef } from './move-ref.ts'
import type { GitPerson } from './git-store.ts'

const read = { contents: 'read' } as const
const write = { contents: 'write' } as const
const git = '/repos/{owner}/{repo}/git'

/** The Git data API: blobs, trees, commits and refs, all of them real. */
export const gitDataRoutes = [
  repositoryRoute(`POST ${git}/blobs`, write, createBlob),
  repositoryRoute(`GET ${git}/blobs/{file_sha}`, read, readBlob),
  repositoryRoute(`POST ${git}/trees`, write, createTree),
  repositoryRoute(`GET ${git}/trees/{tree_sha}`, read, readTree),
  repositoryRoute(`POST ${git}/commits`, write, createCommit),
  repositoryRoute(`GET ${git}/commits/{commit_sha}`, read, readCommit),
  repositoryRoute(`GET ${git}/ref/{ref}`, read, readRef),
  repositoryRoute(`GET ${git}/matching-refs/{ref}`, read, matchingRefs),
  repositoryRoute(`POST ${git}/refs`, write, createRef),
  repositoryRoute(`PATCH ${git}/refs/{ref}`, write, updateRef),
  repositoryRoute(`DELETE ${git}/refs/{ref}`, write, deleteRef),
]

const NewBlob = z.object({ content: z.string(), encoding: z.enum(['utf-8', 'base64']).default('utf-8') })

async function createBlob({ world, repository, body }: RepositoryCall) {
  const { content, encoding } = bodyOf(NewBlob, body)
  const bytes = Buffer.from(content, encoding)
  const longest = 40_000_000
  if (bytes.length > longest) refuse(422, 'Sorry, the file is too large to be processed.')
  const sha = await repository.store.writeBlob(bytes)
  return answer(201, { sha, url: `${urlsOf(world, repository).api}/git/blobs/${sha}` })
}

async function readBlob({ world, repository, parameters, accept }: RepositoryCall) {
  const sha = parameters['file_sha'] ?? ''
  if (!(await repository.store.has(sha, 'blob'))) notFound()
  const bytes = await repository.store.readBlob(sha)
  if (/raw/.test(accept)) return rawAnswer(bytes)
  const url = `${urlsOf(world, repository).api}/git/blobs/${sha}`
  const content = bytes.toString('base64').replaceAll(/.{60}/g, '$&\n')
  return answer(200, { sha, node_id: nodeId('B', sha), size: bytes.length, url, content, encoding: 'base64' })
}

const NewTree = z.object({
  base_tree: z.string().optional(),
  tree: z.array(
    z.object({
      path: z.string().min(1),
      mode: z.string(),
      type: z.string().optional(),
      sha: z.string().nullable().optional(),
      content: z.string().optional(),
    }),
  ),
})

async function createTree({ world, repository, body, viewer }: RepositoryCall) {
  const { base_tree: base, tree } = bodyOf(NewTree, body)
  const { store } = repository
  if (tree.length === 0) refuse(422, 'Invalid tree info')
  const from = base === undefined ? undefined : await store.tip(base, 'tree')
  if (base !== undefined && from === undefined) refuse(422, 'The base_tree does not exist')
  const workflows = viewer.kind === 'installation' ? granted(viewer.token, 'workflows') : 'none'
  const before = new Set(from === undefined ? [] : (await store.readTree(from, true)).map(({ path }) => path))
  const changes = []
  for (const { path, mode, sha, content } of tree) {
    if ((sha === undefined) === (content === undefined))
      refuse(422, 'Must supply either tree.sha or tree.content, and not both')
    if (/^\/|\/$|\/\/|(?:^|\/)\.{1,2}(?:\/|$)|(?:^|\/)\.git(?:\/|$)/i.test(path))
      refuse(422, 'tree.path contains a malformed path component')
    if (path.startsWith('.github/workflows/') && !allows(workflows, 'write'))
      refuse(403, 'Resource not accessible by integration') // workflows need a permission of their own
    if (sha === null && !before.has(path)) refuse(422, 'GitRPC::BadObjectState')
    changes.push({ path, mode, sha: content === undefined ? (sha ?? null) : await store.writeBlob(content) })
  }
  await refuseMissing({ store }, changes)
  const sha = await store.writeTree(from, changes)
  return answer(201, await treeJson({ world, repository }, sha, false))
}

type Changed = { path: string; mode: string; sha: string | null }

async function refuseMissing({ store }: Pick<RepositoryCall['repository'], 'store'>, changes: readonly Changed[]) {
  for (const { sha, path, mode } of changes) {
    if (sha === null || mode === '160000') continue
    const type = await store.typeOf(sha)
    if (type === undefined) refuse(422, `tree.sha ${sha} does not exist`)
    const expected = mode === '040000' ? 'tree' : 'blob'
    if (type !== expected) refuse(422, `tree.sha ${sha} (${path}) is not a valid ${expected}`)
  }
}

async function readTree({ world, repository, parameters, query }: RepositoryCall) {
  const sha = await repository.store.tip(safeName(parameters['tree_sha'] ?? ''), 'tree')
  return answer(200, await treeJson({ world, repository }, found(sha), query.has('recursive')))
}

async function treeJson(
  { world, repository }: Pick<RepositoryCall, 'world' | 'repository'>,
  sha: string,
  recursive: boolean,
) {
  const { api } = urlsOf(world, repository)
  const entries = await repository.store.readTree(sha, recursive)
  const kinds: Record<string, string> = { blob: 'blobs', tree: 'trees' }
  const tree = entries.slice(0, world.mostTreeEntries).map((entry) => {
    const kind = kinds[entry.type]
    return { ...entry, ...(kind === undefined ? {} : { url: `${api}/git/${kind}/${entry.sha}` }) }
  })
  return { sha, url: `${api}/git/trees/${sha}`, tree, truncated: entries.length > world.mostTreeEntries }
}

const Person = z.object({ name: z.string(), email: z.string(), date: z.string().optional() })
const NewCommit = z.object({
  message: z.string(),
  tree: z.string(),
  parents: z.array(z.string()).default([]),
  author: Person.optional(),
  committer: Person.optional(),
})

async function createCommit({ world, repository, body }: RepositoryCall) {
  const { message, tree, parents, author, committer } = bodyOf(NewCommit, body)
  const { store } = repository
  if (!(await store.has(tree, 'tree'))) refuse(422, 'Tree SHA does not exist')
  for (const parent of parents)
    if (!(await store.has(parent, 'commit'))) refuse(422, 'Parent SHA does not exist or is not a commit object')
  const bot = botPerson(world)
  const person = (given: z.infer<typeof Person>): GitPerson => ({ ...given, date: given.date ?? bot.date })
  const written = author === undefined ? bot : person(author)
  const committed = committer === undefined ? written : person(committer)
  const sha = await store.writeCommit({ message, tree, parents, author: written, committer: committed })
  if (author === undefined && committer === undefined) repository.verified.add(sha)
  const [commit] = await store.readCommits([sha])
  return answer(201, gitCommitJson(world, repository, found(commit)))
}

async function readCommit({ world, repository, parameters }: RepositoryCall) {
  const sha = parameters['commit_sha'] ?? ''
  if (!(await repository.store.has(sha, 'commit'))) notFound()
  const [commit] = await repository.store.readCommits([sha])
  return answer(200, gitCommitJson(world, repository, found(commit)))
}

async function readRef({ world, repository, parameters }: RepositoryCall) {
  const name = `refs/${parameters['ref'] ?? ''}`
  const sha = await repository.store.readRef(safeName(name))
  return answer(200, await typedRefJson({ world, repository }, { ref: name, sha: found(sha) }))
}

async function matchingRefs({ world, repository, parameters }: RepositoryCall) {
  const start = `refs/${parameters['ref'] ?? ''}`
  const refs = (await repository.store.listRefs('refs')).filter(({ ref }) => ref.startsWith(start))
  return answer(200, await Promise.all(refs.map((ref) => typedRefJson({ world, repository }, ref))))
}

/** A tag may be an object of its own. */
async function typedRefJson(
  { world, repository }: Pick<RepositoryCall, 'world' | 'repository'>,
  ref: { ref: string; sha: string },
) {
  return refJson(world, repository, { ...ref, type: found(await repository.store.typeOf(ref.sha)) })
}

const NewRef = z.object({ ref: z.string(), sha: z.string() })

async function createRef(call: RepositoryCall) {
  const { world, repository, body } = call
  const { ref, sha } = bodyOf(NewRef, body)
  const { store } = repository
  if (!/^refs\/[^/]+\/./.test(ref) || !(await store.isRefName(ref)))
    refuse(422, 'Reference name must start with refs and be valid')
  if (!(await store.has(sha, 'commit'))) refuse(422, 'Object does not exist')
  if ((await store.readRef(ref)) !== undefined) refuse(422, 'Reference already exists')
  await moveRef(call, { ref, after: sha })
  return answer(201, refJson(world, repository, { ref, sha, type: 'commit' }))
}

const MovedRef = z.object({ sha: z.string(), force: z.boolean().default(false) })

async function updateRef(call: RepositoryCall) {
  const { world, repository, parameters, body } = call
  const { sha, force } = bodyOf(MovedRef, body)
  const { store } = repository
  const ref = `refs/${parameters['ref'] ?? ''}`
  const before = await store.readRef(safeName(ref))
  if (before === undefined) return refuse(422, 'Reference does not exist')
  if (!(await store.has(sha, 'commit'))) refuse(422, 'Object does not exist')
  if (!force && !(await store.isAncestor(before, sha))) refuse(422, 'Update is not a fast forward')
  await moveRef(call, { ref, before, after: sha })
  return answer(200, refJson(world, repository, { ref, sha, type: 'commit' }))
}

async function deleteRef(call: RepositoryCall) {
  const ref = `refs/${call.parameters['ref'] ?? ''}`
  const before = await call.repository.store.readRef(safeName(ref))
  if (before === undefined) return refuse(422, 'Reference does not exist')
  await moveRef(call, { ref, before })
  return answer(204)
}

/** What git would take for an option or an expression is no name of anything here. */
function safeName(name: string): string {
  return isPlainName(name) ? name : 'refs/no-such-name'
}
