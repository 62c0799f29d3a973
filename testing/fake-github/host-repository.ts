import { appendFile, chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { commitFiles, defaultPerson, humanActs, type FileChanges } from './human-acts.ts'
import { gitStore, noCommit } from './git-store.ts'
import { refMoved } from './move-ref.ts'
import { runGit } from './run-git.ts'
import type { Webhooks } from './webhooks.ts'
import { type HostedRepository, type World, accountOf, findRepository, fullName } from './world.ts'

export type NewRepository = {
  owner: string
  name: string
  /** Of the first commit; without them the repository is empty. */
  files?: FileChanges
  defaultBranch?: string
}

export type FakeRepository = Awaited<ReturnType<typeof addRepository>>

type Host = { world: World; webhooks: Webhooks; folder: string }

/** Makes a real bare repository. What is pushed to its path leads to the same webhooks as on GitHub. */
export async function addRepository({ world, webhooks, folder }: Host, wanted: NewRepository) {
  const { owner, name, files, defaultBranch = 'main' } = wanted
  if (findRepository(world, owner, name) !== undefined)
    throw new Error(`there is a repository ${owner}/${name} already`)
  const gitPath = join(folder, owner, `${name}.git`)
  await mkdir(gitPath, { recursive: true })
  await runGit(gitPath, ['init', '--bare', '--quiet', `--initial-branch=${defaultBranch}`])
  await appendFile(join(gitPath, 'config'), settings)
  const now = world.now()
  const repository: HostedRepository = {
    id: world.nextId(),
    owner: accountOf(world, owner),
    name,
    defaultBranch,
    store: gitStore(gitPath),
    createdAt: now,
    pushedAt: now,
    verified: new Set(),
    pulls: new Map(),
    comments: new Map(),
    checkRuns: new Map(),
    suites: new Map(),
    collaborators: new Set([defaultPerson]),
  }
  world.repositories.set(repository.id, repository)
  await writeHook(gitPath, `${world.origin}${hookPath(repository)}`)
  if (files !== undefined) {
    const sha = await commitFiles({ world, repository }, { parent: undefined, files, message: 'First commit' })
    await repository.store.git(['update-ref', `refs/heads/${defaultBranch}`, sha])
  }
  return {
    ...humanActs({ world, webhooks, repository }),
    ...reads(repository),
    id: repository.id,
    owner,
    name,
    fullName: fullName(repository),
    gitPath,
    /** From now on the API does not know it. */
    vanish: () => void world.repositories.delete(repository.id),
  }
}

function reads(repository: HostedRepository) {
  const { store } = repository
  return {
    tip: (branch: string) => store.tip(`refs/heads/${branch}`),
    branches: async () => (await store.listRefs('refs/heads')).map(({ ref }) => ref.replace('refs/heads/', '')),
    /** The text of a file at a branch or commit; undefined when there is none. */
    async read(branch: string, path: string): Promise<string | undefined> {
      const { code, stdout } = await store.git(['cat-file', 'blob', `${branch}:${path}`], { allow: [128] })
      return code === 0 ? stdout.toString() : undefined
    },
    async commits(range: string) {
      const shas = (await store.line(['rev-list', range])).split('\n').filter((one) => one !== '')
      return Promise.all(shas.map(store.readCommit))
    },
    git: store.line,
    /** As they are now. */
    pulls: () => [...repository.pulls.values()],
    checkRuns: () => [...repository.checkRuns.values()],
    comments: () => [...repository.comments.values()],
  }
}

/** Nothing runs in the background, and what is pushed is not packed: git-files reads no packs. */
const settings = '[gc]\n\tauto = 0\n[transfer]\n\tunpackLimit = 1000000\n'

function hookPath({ id }: HostedRepository): string {
  return `/-/pushed/${id}`
}

const longestHookMs = 5_000

/**
 * Tells this GitHub what was pushed, before `git push` ends. A test that pushes with
 * `execFileSync` cannot answer meanwhile: it waits for the whole limit, and the webhooks follow after that.
 */
async function writeHook(gitPath: string, url: string): Promise<void> {
  const program = `
    const chunks = []
    for await (const chunk of process.stdin) chunks.push(chunk)
    const signal = AbortSignal.timeout(${longestHookMs})
    const answer = await fetch('${url}', { method: 'POST', body: Buffer.concat(chunks), signal })
    if (!answer.ok) throw new Error(await answer.text())`
  await writeFile(join(gitPath, 'pushed.mjs'), program)
  const hook = join(gitPath, 'hooks', 'post-receive')
  await mkdir(join(gitPath, 'hooks'), { recursive: true })
  await writeFile(hook, `#!/bin/sh\nexec '${process.execPath}' '${join(gitPath, 'pushed.mjs')}'\n`)
  await chmod(hook, 0o755)
}

/** Takes what git says after a push: a line for each ref that it moved. */
export async function takePush(
  { world, webhooks }: Pick<Host, 'world' | 'webhooks'>,
  { path, body }: { path: string; body: string },
): Promise<void> {
  const repository = world.repositories.values().find((one) => hookPath(one) === path)
  if (repository === undefined) return
  const sender = accountOf(world, defaultPerson)
  for (const line of body.split('\n').filter((one) => one !== '')) {
    const [before = noCommit, after = noCommit, ref = ''] = line.split(' ')
    await refMoved(
      { world, webhooks, repository, sender },
      { ref, ...(before === noCommit ? {} : { before }), ...(after === noCommit ? {} : { after }) },
    )
  }
}

export const isPush = (path: string): boolean => path.startsWith('/-/pushed/')
