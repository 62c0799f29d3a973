import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { FakeRepository } from '#testing/fake-github/host-repository.ts'
import { lacks } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'
import { startHost, untilChecked } from '../e2e/github-host.ts'
import { type OneProcess, startInOneProcess } from './one-process.ts'

const shop = {
  'shop/stock.py':
    'def count(items: list) -> int:\n    return len(items)\n\n\ndef double(number: int) -> int:\n    return number * 2\n',
  'shop/prices.py':
    'import os\n\n\ndef price(amount: int) -> int:\n    """The price of an amount."""\n    return amount * 3\n',
  'remora.yaml': 'github:\n  agents: [lint, docstring]\n  labels: [remora]\n',
}

describe.skipIf(lacks('git'))('a repository with the GitHub App', () => {
  let host: Awaited<ReturnType<typeof startHost>>
  let services: OneProcess
  beforeAll(async () => {
    host = await startHost()
    services = await startInOneProcess(host.options)
    host.github.install({ account: 'acme' })
  })
  afterAll(async () => {
    await services.close()
    await host.stop()
  })
  const checked = (repository: FakeRepository, commit: string) =>
    untilChecked(repository, commit, { log: () => services.log.join('') })

  it('that a bot pushes to works on nothing, and brings the open pull request to the new commit', async () => {
    const { github } = host
    const files = { 'README.md': '# Tools\n' }
    const repository = await github.addRepository({ owner: 'acme', name: 'tools', files })
    await checked(repository, await repository.humanCommit('main', shop))
    const changed = `${shop['shop/stock.py']}\n\ndef triple(number: int) -> int:\n    return number * 3\n`
    const commit = await repository.humanCommit('main', { 'shop/stock.py': changed }, { by: 'dependabot[bot]' })
    const runId = await checked(repository, commit)
    expect(await services.api.operations(runId)).toEqual([])
    expect(repository.pulls()).toMatchObject([{ state: 'open', number: 1 }])
    expect(await repository.git(['merge-base', 'main', 'remora/main'])).toBe(commit)
    const kept = await repository.read('remora/main', 'shop/stock.py')
    expect(kept).toMatch(/def count.*\n {4}"""/)
    expect(kept).toMatch(/def triple.*\n {4}return/)
    expect(await repository.read('remora/main', 'shop/prices.py')).not.toMatch(/^import os/)
  })

  it('a run that somebody submits of a repository gets a pull request when somebody asks for it', async () => {
    const { github } = host
    const repository = await github.addRepository({
      owner: 'acme',
      name: 'prices',
      files: { 'README.md': '# Prices\n' },
    })
    await repository.humanCommit('work', { 'prices.py': shop['shop/prices.py'], 'stock.py': shop['shop/stock.py'] })
    const headers = { 'content-type': 'application/json' }
    const post = (path: string, body: object) =>
      services.api.ask(path, { method: 'POST', headers, body: JSON.stringify(body) })
    const submit = (name: string) =>
      post('/v1/runs', { agents: ['docstring'], accept: 'auto', repository: { url: `acme/${name}`, ref: 'work' } })
    await until(async () => (await submit('prices')).status === 202, { withinMs: 20_000 })
    const { run_id: runId } = z.looseObject({ run_id: z.string() }).parse(await (await submit('prices')).json())
    expect(await services.api.follow(runId)).toMatchObject({ status: 'completed' })
    expect(repository.pulls()).toEqual([])
    expect((await post(`/v1/runs/${runId}/publish`, {})).status).toBe(202)
    await until(() => repository.pulls().length === 1, { withinMs: 60_000 })
    expect(repository.pulls()).toMatchObject([{ base: { ref: 'work' }, head: { ref: 'remora/work' }, draft: true }])
    expect(await repository.read('remora/work', 'stock.py')).toMatch(/def count.*\n {4}"""/)
    expect((await submit('nowhere')).status).toBe(404)
  })
})
