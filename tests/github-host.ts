import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { openReleaser } from '#platform/service-process.ts'
import type { FakeRepository } from '#testing/fake-github/host-repository.ts'
import { startFakeGitHub } from '#testing/fake-github/start-fake-github.ts'
import { freePorts } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'
import type { Programs } from './program.ts'
import { layOutRehearsedDocstrings } from './rehearsed-docstrings.ts'
import { startServices, startStores, type Stores } from './services.ts'

const run = promisify(execFile)

/**
 * `env`: of the publisher. `redisOf`: the address by which it reaches Redis. `stores`: others than those that are started. `envOf`: more for a
 * service; with it there is a watcher.
 */
export type HostOptions = {
  env?: Record<string, string>
  redisOf?(redisUrl: string): Promise<string>
  stores?: Stores
  envOf?(service: 'api' | 'discovery' | 'worker' | 'publisher' | 'watcher'): Record<string, string>
}

/** A fake GitHub that sends its webhooks to the API, and what services need to work for it. */
export async function startHost({ env = {}, envOf: given }: Pick<HostOptions, 'env' | 'envOf'> = {}) {
  const envOf = given ?? (() => ({}))
  const releaser = openReleaser()
  const [port = 0] = await freePorts(1)
  const github = await startFakeGitHub({ webhookUrl: `http://127.0.0.1:${port}/webhooks/github` })
  releaser.add('fake GitHub', github.close)
  const { app, apiUrl } = github
  const agents = await mkdtemp(join(tmpdir(), 'remora-agents-'))
  releaser.add('agents', () => rm(agents, { recursive: true }))
  await layOutRehearsedDocstrings(agents)
  const options = {
    env: { REMORA_AGENTS_DIR: agents },
    workerEnv: envOf('worker'),
    discoveryEnv: envOf('discovery'),
    ...(given === undefined ? {} : { watcherEnv: given('watcher') }),
    publishing: {
      port,
      apiEnv: { REMORA_GITHUB_WEBHOOK_SECRET: app.webhookSecret, ...envOf('api') },
      publisherEnv: {
        REMORA_GITHUB_APP_ID: String(app.id),
        REMORA_GITHUB_PRIVATE_KEY: app.privateKey,
        REMORA_GITHUB_API_URL: apiUrl,
        REMORA_GITHUB_POLL_S: '5',
        ...envOf('publisher'),
        ...env,
      },
    },
  }
  return { github, options, stop: releaser.release }
}

/** Waits for the end of the check run of a commit; answers the id of its run. `log`: of the publisher. */
export async function untilChecked(
  { checkRuns }: FakeRepository,
  commit: string,
  { withinMs = 90_000, log }: { withinMs?: number; log(): string },
): Promise<string> {
  const ended = () => checkRuns().find((one) => one.headSha === commit && one.status === 'completed')
  await until(() => ended() !== undefined, { withinMs }).catch((error: unknown) => {
    throw new Error(`${String(error)}\n${log().slice(-4_000)}`)
  })
  return ended()?.externalId ?? ''
}

/** Every service as a process of its own, with a publisher, beside a fake GitHub that sends them its webhooks. */
export async function startWithGitHub(
  programs: Programs,
  { env = {}, redisOf = async (url) => url, stores: given, envOf }: HostOptions = {},
) {
  const releaser = openReleaser()
  const stores = given ?? (await startStores())
  releaser.add('stores', stores.stop)
  const ofPublisher = { REMORA_REDIS_URL: await redisOf(stores.redisUrl), ...envOf?.('publisher'), ...env }
  const { github, options, stop } = await startHost({ env: ofPublisher, ...(envOf === undefined ? {} : { envOf }) })
  releaser.add('host', stop)
  const services = await startServices(programs, stores, options)
  return {
    github,
    services,
    checked: (repository: FakeRepository, commit: string, withinMs?: number) =>
      untilChecked(repository, commit, { log: services.named('publisher').err, ...(withinMs && { withinMs }) }),
    /** After the services have ended. */
    stop: releaser.release,
  }
}

const person = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', '-c', 'core.autocrlf=false']

/** A clone in which a person works with git alone. */
export async function openPersonClone(gitPath: string) {
  const path = await mkdtemp(join(tmpdir(), 'remora-clone-'))
  const git = async (...args: string[]) =>
    (await run('git', ['-C', path, ...person, ...args], { maxBuffer: 64 * 1024 ** 2 })).stdout.trim()
  await run('git', ['clone', '--quiet', gitPath, path])
  const push = async (message: string) => {
    await git('add', '--all', '--force')
    await git('commit', '--quiet', '--message', message)
    await git('push', '--quiet', 'origin', 'HEAD:main')
    return git('rev-parse', 'HEAD')
  }
  return {
    path,
    git,
    /** Answers the commit. */
    async push(files: Readonly<Record<string, string>>, message: string): Promise<string> {
      for (const [name, text] of Object.entries(files)) {
        await mkdir(dirname(join(path, name)), { recursive: true })
        await writeFile(join(path, name), text)
      }
      return push(message)
    },
    /** All files of a folder as one commit. */
    async pushFolder(folder: string, message: string): Promise<string> {
      await cp(folder, path, { recursive: true, verbatimSymlinks: true })
      return push(message)
    },
    /** The files that a branch of the remote repository has. */
    async checkoutTo(branch: string, folder: string): Promise<void> {
      await git('fetch', '--quiet', 'origin')
      await git('worktree', 'add', '--quiet', '--detach', folder, `origin/${branch}`)
    },
    remove: () => rm(path, { recursive: true, force: true }),
  }
}
