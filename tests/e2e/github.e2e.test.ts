import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FakeGitHub, startFakeGitHub } from '#testing/fake-github/start-fake-github.ts'
import { freePorts, lacks } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'
import { openPrograms } from './program.ts'
import { type Services, startServices, type Stores, startStores } from './services.ts'

const run = promisify(execFile)

const shop = {
  'shop/stock.py':
    'def count(items: list) -> int:\n    return len(items)\n\n\ndef double(number: int) -> int:\n    return number * 2\n',
  'shop/prices.py':
    'import os\n\n\ndef price(amount: int) -> int:\n    """The price of an amount."""\n    return amount * 3\n',
  'remora.yaml': 'github:\n  agents: [lint, docstring]\n  labels: [remora]\n',
}

/** A clone of a person, who works in it with git alone. */
async function openClone(gitPath: string) {
  const path = await mkdtemp(join(tmpdir(), 'remora-clone-'))
  const person = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org']
  const git = async (...args: string[]) => (await run('git', ['-C', path, ...person, ...args])).stdout.trim()
  await run('git', ['clone', '--quiet', gitPath, path])
  return {
    git,
    async push(files: Readonly<Record<string, string>>, message: string) {
      for (const [name, text] of Object.entries(files)) {
        await mkdir(dirname(join(path, name)), { recursive: true })
        await writeFile(join(path, name), text)
      }
      await git('add', '-A')
      await git('commit', '--quiet', '-m', message)
      await git('push', '--quiet', 'origin', 'HEAD:main')
      return git('rev-parse', 'HEAD')
    },
    remove: () => rm(path, { recursive: true, force: true }),
  }
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
  })
  afterAll(async () => {
    await programs.end()
    await github.close()
    await stores.stop()
  })

  it('leads to a check run and one pull request, which a later push keeps and a person merges', async () => {
    const repository = await github.addRepository({ owner: 'acme', name: 'shop', files: { 'README.md': '# Shop\n' } })
    github.install({ account: 'acme' })
    const clone = await openClone(repository.gitPath)
    const done = async (commit: string) => {
      const ended = () => repository.checkRuns().find((one) => one.headSha === commit && one.status === 'completed')
      await until(() => ended() !== undefined, { withinMs: 90_000 }).catch((error: unknown) => {
        throw new Error(`${String(error)}\n${services.named('publisher').err().slice(-4_000)}`)
      })
      return ended()
    }
    const jobsOf = async (runId: string) => (await services.api.operations(runId)).length
    try {
      const first = await clone.push(shop, 'The shop')
      const check = await done(first)
      expect(check).toMatchObject({ conclusion: 'neutral' })
      expect(repository.pulls()).toMatchObject([{ state: 'open', draft: true, head: { ref: 'remora/main' } }])
      await clone.git('fetch', '--quiet', 'origin')
      expect(await clone.git('log', '--format=%an %s', 'origin/main..origin/remora/main')).toMatch(
        /^remora-test\[bot\] .+\nremora-test\[bot\] .+$/,
      )
      expect(await clone.git('show', 'origin/remora/main:shop/stock.py')).toMatch(/def count.*\n {4}"""/)
      expect(await clone.git('show', 'origin/remora/main:shop/prices.py')).not.toMatch(/^import os/)

      const changed = `${shop['shop/stock.py']}\n\ndef triple(number: int) -> int:\n    return number * 3\n`
      const second = await clone.push({ 'shop/stock.py': changed }, 'Triple')
      const next = await done(second)
      expect(await jobsOf(next?.externalId ?? '')).toBeLessThanOrEqual(5)
      expect(repository.pulls()).toHaveLength(1)
      await clone.git('fetch', '--quiet', 'origin')
      const kept = await clone.git('show', 'origin/remora/main:shop/stock.py')
      expect(kept).toMatch(/def count.*\n {4}"""/)
      expect(kept).toMatch(/def triple.*\n {4}"""/)
      expect(await clone.git('show', 'origin/remora/main:shop/prices.py')).not.toMatch(/^import os/)
      expect(await clone.git('merge-base', 'origin/main', 'origin/remora/main')).toBe(second)

      await repository.mergePull(1)
      const merged = async () => {
        const answer = await services.api.ask(`/v1/runs/${next?.externalId}`)
        return (await answer.text()).includes('"state":"merged"')
      }
      await until(merged, { withinMs: 30_000 })
      expect(await repository.read('main', 'shop/stock.py')).toBe(`${kept}\n`)
    } finally {
      await clone.remove()
    }
  })
})
