import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type FakeGitHub, startFakeGitHub } from '#testing/fake-github/start-fake-github.ts'
import { freePorts, lacks } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'
import { lastDocument, openPrograms, type Program, remora } from '../program.ts'
import { layOutRehearsedDocstrings } from '../rehearsed-docstrings.ts'

const Made = z.object({ app_id: z.int(), environment: z.record(z.string(), z.string()) })

const undocumented = (name: string) => `def ${name}(items: list) -> int:\n    return len(items)\n`

describe.skipIf(lacks('git'))('the way of docs/guide/github.md', () => {
  const programs = openPrograms()
  let home = ''
  let github: FakeGitHub
  let port = 0
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'remora-home-'))
    github = await startFakeGitHub()
    ;[port = 0] = await freePorts(1)
  })
  afterAll(async () => {
    await programs.end()
    await github.close()
    await rm(home, { recursive: true, force: true })
  })

  it('leads from nothing to a pull request, and to the next one behind a firewall', async () => {
    const folder = { path: home }
    const apiUrl = { REMORA_GITHUB_API_URL: github.apiUrl }
    const setup = remora(programs, folder, ['github', 'setup', '--url', `http://127.0.0.1:${port}`, '--json'], apiUrl)
    await makeApp(setup)
    expect(await setup.exited).toBe(0)
    const { environment } = Made.parse(lastDocument(setup.out()))

    const agents = join(home, 'agents')
    await layOutRehearsedDocstrings(agents)
    const settings = { ...environment, REMORA_AGENTS_DIR: agents, REMORA_GITHUB_POLL_S: '5' }
    const up = remora(programs, folder, ['up', '--port', String(port), '--workers', '1', '--json'], settings)
    await until(() => up.out(), { holds: (text) => text.includes('"url"'), withinMs: 60_000 })
    expect(up.out()).toContain('"service":"publisher"')
    const repository = await github.addRepository({ owner: 'acme', name: 'shop', files: { 'README.md': '# Shop\n' } })
    github.install({ account: 'acme' })
    await repository.humanCommit('main', { 'shop/stock.py': undocumented('count') })
    await until(() => repository.pulls(), { holds: ({ length }) => length === 1, withinMs: 90_000 }).catch(
      (error: unknown) => {
        throw new Error(`${String(error)}\n${up.err()}\n${JSON.stringify(github.requests.slice(-20))}`)
      },
    )
    const ended = () => repository.checkRuns().filter(({ status }) => status === 'completed').length
    await until(ended, { holds: (count) => count === 1, withinMs: 30_000 })

    github.webhooks.sendTo('http://127.0.0.1:1/webhooks/github')
    await repository.humanCommit('main', { 'shop/prices.py': undocumented('total') })
    await until(ended, { holds: (count) => count === 2, withinMs: 90_000 })
    up.interrupt()
    expect(await up.exited).toBe(0)
  })
})

/** Presses the button on the page, and on that of GitHub. */
async function makeApp(setup: Program): Promise<void> {
  const address = () => /http:\/\/127\.0\.0\.1:\d+\/\S+/.exec(setup.err())?.[0]
  const page = await (await fetch(await until(address, { withinMs: 30_000 }))).text()
  const of = (pattern: RegExp) => (pattern.exec(page)?.[1] ?? '').replaceAll('&quot;', '"').replaceAll('&amp;', '&')
  const body = new URLSearchParams({ manifest: of(/name="manifest" value="([^"]*)"/) })
  expect((await fetch(of(/action="([^"]*)"/), { method: 'POST', body })).status).toBe(200)
}
