import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { runGit } from './fake-github/run-git.ts'

type Files = Readonly<Record<string, string>>

/** An environment without the settings of this machine, in which git commits as somebody. */
export function gitAs(name: string) {
  const email = `${name.toLowerCase()}@example.org`
  const author = { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email }
  const committer = { GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email }
  return {
    PATH: process.env['PATH'],
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    ...author,
    ...committer,
  }
}

/** An empty repository, as a host has it. */
export async function makeBare(gitPath: string): Promise<void> {
  await mkdir(gitPath, { recursive: true })
  await runGit(gitPath, ['init', '-q', '--bare', '-b', 'main'])
}

export type GitClone = Awaited<ReturnType<typeof openClone>>

/** A person's clone, on `main`, with a first commit that is pushed. */
export async function openClone({ gitPath }: { gitPath: string }, files: Files) {
  const folder = await mkdtemp(join(tmpdir(), 'remora-clone-'))
  const { PATH: _, ...ada } = gitAs('Ada')
  const run = async (cwd: string, args: readonly string[], variables: Record<string, string> = {}) => {
    const { stdout } = await runGit(cwd, args, { variables: { ...ada, ...variables } })
    return stdout.toString().trim()
  }
  const local = (...args: string[]) => run(folder, args)
  const clone = {
    folder,
    local,
    /** In the repository that it is a clone of. */
    bare: (...args: string[]) => run(gitPath, args),
    async write(changed: Files): Promise<void> {
      for (const [path, content] of Object.entries(changed)) {
        await mkdir(dirname(join(folder, path)), { recursive: true })
        await writeFile(join(folder, path), content)
      }
    },
    /** Commits what there is and pushes it. */
    async commit(message: string): Promise<string> {
      await local('add', '-A')
      await local('commit', '-qm', message)
      await local('push', '-q', 'origin', 'HEAD')
      return local('rev-parse', 'HEAD')
    },
    async checkOut(branch: string): Promise<void> {
      await local('fetch', '-q')
      await local('checkout', '-q', branch)
    },
    /** Somebody else, Eve, changes the last commit of a branch under its own message. */
    async amend(branch: string, changed: Files): Promise<string> {
      await clone.checkOut(branch)
      await clone.write(changed)
      const eve = { GIT_COMMITTER_NAME: 'Eve', GIT_COMMITTER_DATE: '2040-01-01T00:00:00Z' }
      await run(folder, ['commit', '-qa', '--amend', '--no-edit'], eve)
      await local('push', '-qf', 'origin', 'HEAD')
      return local('rev-parse', 'HEAD')
    },
    close: () => rm(folder, { recursive: true, force: true }),
  }
  await local('init', '-q', '-b', 'main')
  await local('remote', 'add', 'origin', gitPath)
  await clone.write(files)
  await clone.commit('first')
  return clone
}
