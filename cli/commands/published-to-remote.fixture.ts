import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import type { BaseFiles } from '#stages/publish/composed.fixture.ts'
import { runGit } from '#testing/fake-github/run-git.ts'
import { gitAs } from '#testing/git-clone.ts'
import { files } from './proposed-commits.fixture.ts'
import { useServedApi } from './served-api.fixture.ts'

export const gitEnv = gitAs('Ada')

type Caller = { cwd: string; env: Record<string, string | undefined> }

/** A served API for the tests of a file, and for each of them a bare repository with a checkout of it, to which runs are published. */
export function useRemote() {
  const served = useServedApi()
  let dir = ''
  const git = async (cwd: string, ...args: string[]) => {
    const { PATH: _, ...variables } = gitEnv
    return (await runGit(join(dir, cwd), ['-c', 'core.quotePath=false', ...args], { variables })).stdout
      .toString()
      .trim()
  }
  const write = async (changed: BaseFiles) => {
    for (const [path, file] of Object.entries(changed)) {
      const place = join(dir, 'local', path)
      await mkdir(dirname(place), { recursive: true })
      const [content, mode] = typeof file === 'string' ? [file, 0o644] : [file.content, 0o755]
      await writeFile(place, content, { mode })
    }
  }
  const commit = async (message: string) => {
    await git('local', 'add', '-A')
    await git('local', 'commit', '-qm', message)
    await git('local', 'push', '-q', 'origin', 'HEAD')
  }
  const publishIn = ({ cwd, env }: Caller, runId: string, ...args: string[]) => {
    const to = relative(cwd, join(dir, 'bare.git'))
    return served.remoraWith({ cwd, env }, 'publish', runId, '--of', 'proposed', '--to', to, ...args)
  }
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'remora-publish-test-'))
    await git('.', 'init', '-q', '--bare', '-b', 'main', 'bare.git')
    await git('.', 'init', '-q', '-b', 'main', 'local')
    await git('local', 'remote', 'add', 'origin', join(dir, 'bare.git'))
    await write(files)
    await commit('first')
  })
  afterEach(() => rm(dir, { recursive: true, force: true }))
  return {
    get api() {
      return served.api
    },
    get dir() {
      return dir
    },
    git,
    bare: (...args: string[]) => git('bare.git', ...args),
    write,
    commit,
    publishIn,
    publish: (runId: string, ...args: string[]) => publishIn({ cwd: dir, env: gitEnv }, runId, ...args),
  }
}
