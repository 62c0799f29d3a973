import { z } from 'zod'
import { answer, found, notFound, refuse } from './answers.ts'
import { allows, granted } from './authenticate.ts'
import { botPerson, gitCommitJson } from './bodies.ts'
import { answerExample, like } from './examples.ts'
import { type RepositoryCall, bodyOf, repositoryRoute } from './routes.ts'

const read = { contents: 'read' } as const
const write = { contents: 'write' } as const
const git = '/repos/{owner}/{repo}/git'

/** The Git data API: blobs, trees and commits, all of them real. */
export const gitDataRoutes = [
  repositoryRoute(`POST ${git}/blobs`, write, createBlob),
  repositoryRoute(`GET ${git}/blobs/{file_sha}`, read, readBlob),
  repositoryRoute(`POST ${git}/trees`, write, createTree),
  repositoryRoute(`GET ${git}/trees/{tree_sha}`, read, readTree),
  repositoryRoute(`POST ${git}/commits`, write, createCommit),
  repositoryRoute(`GET ${git}/commits/{commit_sha}`, read, readCommit),
  repositoryRoute(`GET ${git}/ref/{ref}`, read, readRef),
]

const NewBlob = z.object({ content: z.string(), encoding: z.enum(['utf-8', 'base64']).default('utf-8') })

async function createBlob({ repository, body }: RepositoryCall) {
  const { content, encoding } = bodyOf(NewBlob, body)
  const sha = await repository.store.writeBlob(Buffer.from(content, encoding))
  return answer(201, like(answerExample(`POST ${git}/blobs`), { sha }))
}

async function readBlob({ repository, parameters }: RepositoryCall) {
  const sha = parameters['file_sha'] ?? ''
  if (!(await repository.store.has(sha, 'blob'))) notFound()
  const bytes = await repository.store.readBlob(sha)
  const content = bytes.toString('base64').replaceAll(/.{60}/g, '$&\n')
  return answer(200, like(answerExample(`GET ${git}/blobs/{file_sha}`), { sha, size: bytes.length, content }))
}

const NewTree = z.object({
  base_tree: z.string(),
  tree: z
    .array(
      z.object({
        path: z.string().min(1),
        mode: z.string(),
        type: z.string().optional(),
        sha: z.string().nullable().optional(),
        content: z.string().optional(),
      }),
    )
    .min(1),
})

async function createTree({ repository, body, viewer }: RepositoryCall) {
  const { base_tree: base, tree } = bodyOf(NewTree, body)
  const { store } = repository
  if (!(await store.has(base, 'tree'))) refuse(422, 'The base_tree does not exist')
  const workflows = viewer.kind === 'installation' ? granted(viewer.token, 'workflows') : 'none'
  const before = new Set((await store.readTree(base, true)).map(({ path }) => path))
  const changes = []
  for (const { path, mode, sha, content } of tree) {
    if ((sha === undefined) === (content === undefined))
      refuse(422, 'Must supply either tree.sha or tree.content, and not both')
    if (/^\/|\/$|\/\/|(?:^|\/)\.{1,2}(?:\/|$)|(?:^|\/)\.git(?:\/|$)/i.test(path))
      refuse(422, 'tree.path contains a malformed path component')
    if (path.startsWith('.github/workflows/') && !allows(workflows, 'write'))
      refuse(403, 'Resource not accessible by integration') // workflows need a permission of their own
    if (sha === null && !before.has(path)) refuse(422, 'GitRPC::BadObjectState')
    const blob = content === undefined ? (sha ?? null) : await store.writeBlob(content)
    if (blob !== null && !(await store.has(blob, 'blob'))) refuse(422, `tree.sha ${blob} (${path}) is no blob`)
    changes.push({ path, mode, sha: blob })
  }
  const sha = await store.writeTree(base, changes)
  return answer(201, like(answerExample(`POST ${git}/trees`), { sha, tree: await store.readTree(sha, false) }))
}

async function readTree({ repository: { store }, parameters, query }: RepositoryCall) {
  const sha = found(await store.tip(parameters['tree_sha'] ?? '', 'tree'))
  const tree = await store.readTree(sha, query.has('recursive'))
  return answer(200, like(answerExample(`GET ${git}/trees/{tree_sha}`), { sha, tree, truncated: false }))
}

const NewCommit = z.strictObject({ message: z.string(), tree: z.string(), parents: z.array(z.string()) })

/** Nobody is named as author or committer: then GitHub commits as the app, and signs. */
async function createCommit({ world, repository, body }: RepositoryCall) {
  const { message, tree, parents } = bodyOf(NewCommit, body)
  const { store } = repository
  if (!(await store.has(tree, 'tree'))) refuse(422, 'Tree SHA does not exist')
  for (const parent of parents)
    if (!(await store.has(parent, 'commit'))) refuse(422, 'Parent SHA does not exist or is not a commit object')
  const bot = botPerson(world)
  const sha = await store.writeCommit({ message, tree, parents, author: bot, committer: bot })
  repository.verified.add(sha)
  return answer(201, gitCommitJson(repository, await store.readCommit(sha)))
}

async function readCommit({ repository, parameters }: RepositoryCall) {
  const sha = parameters['commit_sha'] ?? ''
  if (!(await repository.store.has(sha, 'commit'))) notFound()
  return answer(200, gitCommitJson(repository, await repository.store.readCommit(sha)))
}

async function readRef({ repository, parameters }: RepositoryCall) {
  const ref = `refs/${parameters['ref'] ?? ''}`
  const sha = found(await repository.store.readRef(ref))
  return answer(200, like(answerExample(`GET ${git}/ref/{ref}`), { ref, object: { sha, type: 'commit' } }))
}
