import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Moment } from '#testing/fake-github/network-faults.ts'
import { type FakeGitHub, startFakeGitHub } from '#testing/fake-github/start-fake-github.ts'
import { freePorts, lacks } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'
import { openPrograms } from './program.ts'
import { type Services, startServices, type Stores, startStores } from './services.ts'

const run = promisify(execFile)

const first = {
  'shop/stock.py':
    'def count(items: list) -> int:\n    return len(items)\n\n\ndef double(number: int) -> int:\n    return number * 2\n',
  'shop/prices.py':
    'import os\n\n\ndef price(amount: int) -> int:\n    """The price of an amount."""\n    return amount * 3\n',
  'remora.yaml': 'github:\n  agents: [lint, docstring]\n  labels: [remora]\n',
  'README.md': '# Shop\n',
}

describe.skipIf(lacks('git'))('a push to a repository with the GitHub App', () => {
  const programs = openPrograms()
  let stores: Stores
  let github: FakeGitHub
  let services: Services
  beforeAll(async () => {
    const [port = 0] = await freePorts(1)
    stores = await startStores()
    github = await startFakeGitHub({ webhookUrl: `http://127.0.0.1:${port}/webhooks/github` })
    const { app, apiUrl } = github
    services = await startServices(programs, stores, {
      publishing: {
        port,
        apiEnv: { REMORA_GITHUB_WEBHOOK_SECRET: app.webhookSecret },
        publisherEnv: {
          REMORA_GITHUB_APP_ID: String(app.id),
          REMORA_GITHUB_PRIVATE_KEY: app.privateKey,
          REMORA_GITHUB_API_URL: apiUrl,
          REMORA_GITHUB_POLL_S: '5',
        },
      },
    })
    github.install({ account: 'acme' })
  })
  afterAll(async () => {
    await programs.end()
    await github.close()
    await stores.stop()
  })

  it('leads to a check run and a pull request, which a person merges', async () => {
    const repository = await github.addRepository({ owner: 'acme', name: 'shop', files: { 'README.md': '# Shop\n' } })
    const clone = await mkdtemp(join(tmpdir(), 'remora-clone-'))
    const git = (...args: string[]) =>
      run('git', ['-C', clone, '-c', 'user.name=Ada', '-c', 'user.email=ada@x.org', ...args])
    try {
      await run('git', ['clone', '--quiet', repository.gitPath, clone])
      for (const [path, text] of Object.entries(first)) {
        await run('mkdir', ['-p', join(clone, path, '..')])
        await writeFile(join(clone, path), text)
      }
      await git('add', '-A')
      await git('commit', '--quiet', '-m', 'The shop')
      await git('push', '--quiet', 'origin', 'HEAD:main')

      await until(() => repository.pulls().length === 1, { withinMs: 60_000 }).catch((error: unknown) => {
        throw new Error(
          `${String(error)}\n${services.named('publisher').err()}\n${JSON.stringify(github.requests.slice(-20))}`,
        )
      })
      await until(() => repository.checkRuns().some(({ status }) => status === 'completed'), { withinMs: 30_000 })
      const [pull] = repository.pulls()
      expect(pull).toMatchObject({ state: 'open', head: { ref: 'remora/main' } })
    } finally {
      await rm(clone, { recursive: true, force: true })
    }
  })

  it('is published once by a publisher that is killed when GitHub has just opened the pull request', async () => {
    const repository = await github.addRepository({ owner: 'acme', name: 'stock', files: { 'README.md': '# Stock\n' } })
    const isOpening = ({ method, path }: Moment) => method === 'POST' && path === '/repos/acme/stock/pulls'
    const killed = Promise.withResolvers<void>()
    github.watch((moment) => {
      if (!isOpening(moment) || moment.when === 'before') return
      github.watch(() => {})
      services.named('publisher').kill('SIGKILL')
      killed.resolve()
    })
    await repository.humanCommit('main', first)
    await killed.promise
    await until(() => !services.named('publisher').running())
    await services.startAgain('publisher')
    await until(() => repository.checkRuns().some(({ status }) => status === 'completed'), { withinMs: 120_000 })
    expect(repository.pulls()).toMatchObject([{ state: 'open', labels: ['remora'] }])
    expect(repository.checkRuns()).toMatchObject([{ status: 'completed' }])
    expect(await repository.branches()).toEqual(['main', 'remora/main'])
  })
})
