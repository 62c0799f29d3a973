import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import type { BaseFiles } from '#stages/publish/composed.fixture.ts'
import { runGit } from '#testing/fake-github/run-git.ts'
import { gitAs } from '#testing/git-clone.ts'
import { readCliConfig } from '../cli-config.ts'
import { buildProgram } from '../program.ts'
import { files } from './proposed-commits.fixture.ts'
import { openServedApi, type ServedApi } from './served-api.fixture.ts'

export const gitEnv = gitAs('Ada')

type Caller = { cwd: string; env: Record<string, string | undefined> }

/** A served API for the tests of a file, and for each of them a bare repository with a checkout of it, to which runs are published. */
export function useRemote() {
  const open: { served?: ServedApi; dir?: string } = {}
  const served = () => opened(open.served)
  const dir = () => opened(open.dir)
  const git = async (cwd: string, ...args: string[]) => {
    const { PATH: _, ...variables } = gitEnv
    return (await runGit(join(dir(), cwd), ['-c', 'core.quotePath=false', ...args], { variables })).stdout
      .toString()
      .trim()
  }
  const write = async (changed: BaseFiles) => {
    for (const [path, file] of Object.entries(changed)) {
      const place = join(dir(), 'local', path)
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
  async function publishIn({ cwd, env: own }: Caller, runId: string, ...args: string[]) {
    const answer = { code: 0, out: '', err: '' }
    const io = {
      out: (text: string) => void (answer.out += text),
      err: (text: string) => void (answer.err += text),
      exit: (code: number) => void (answer.code = code),
    }
    const config = readCliConfig({ ...own, REMORA_API_URL: served().url, REMORA_TOKEN: served().api.token })
    const signal = new AbortController().signal
    const context = { io, config, signal, terminal: undefined, colored: false, cwd }
    const words = ['publish', runId, '--of', 'proposed', '--to', relative(cwd, join(dir(), 'bare.git')), ...args]
    await buildProgram(context).parseAsync(words, { from: 'user' })
    return answer
  }
  beforeAll(async () => {
    open.served = await openServedApi()
  })
  afterAll(() => open.served?.close())
  beforeEach(async () => {
    open.dir = await mkdtemp(join(tmpdir(), 'remora-publish-test-'))
    await git('.', 'init', '-q', '--bare', '-b', 'main', 'bare.git')
    await git('.', 'init', '-q', '-b', 'main', 'local')
    await git('local', 'remote', 'add', 'origin', join(dir(), 'bare.git'))
    await write(files)
    await commit('first')
  })
  afterEach(() => rm(dir(), { recursive: true, force: true }))
  return {
    get api() {
      return served().api
    },
    get dir() {
      return dir()
    },
    git,
    bare: (...args: string[]) => git('bare.git', ...args),
    write,
    commit,
    publishIn,
    publish: (runId: string, ...args: string[]) => publishIn({ cwd: dir(), env: gitEnv }, runId, ...args),
  }
}

function opened<T>(one: T | undefined): T {
  if (one === undefined) throw new Error('it is opened when the tests begin')
  return one
}
