import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import type { FakeRepository } from '#testing/fake-github/host-repository.ts'
import { lacks } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'
import { openPersonClone, startHost, untilChecked } from '../github-host.ts'
import { type OneProcess, startInOneProcess } from '../one-process.ts'

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

  it('that a person pushes to gets a check run and one pull request, which a later push keeps and a person merges', async () => {
    const { github } = host
    const repository = await github.addRepository({ owner: 'acme', name: 'shop', files: { 'README.md': '# Shop\n' } })
    const clone = await openPersonClone(repository.gitPath)
    onTestFinished(clone.remove)
    await checked(repository, await clone.push(shop, 'The shop'))
    expect(repository.checkRuns()).toMatchObject([{ conclusion: 'neutral' }])
    expect(repository.pulls()).toMatchObject([{ state: 'open', draft: true, head: { ref: 'remora/main' } }])
    await clone.git('fetch', '--quiet', 'origin')
    expect(await clone.git('log', '--format=%an %s', 'origin/main..origin/remora/main')).toMatch(
      /^remora-test\[bot\] .+\nremora-test\[bot\] .+$/,
    )
    const changed = `${shop['shop/stock.py']}\n\ndef triple(number: int) -> int:\n    return number * 3\n`
    const second = await clone.push({ 'shop/stock.py': changed }, 'Triple')
    const runId = await checked(repository, second)
    expect(repository.pulls()).toHaveLength(1)
    await clone.git('fetch', '--quiet', 'origin')
    const kept = await clone.git('show', 'origin/remora/main:shop/stock.py')
    expect(kept).toMatch(/def count.*\n {4}"""[^]*def triple.*\n {4}"""/)
    expect(await clone.git('show', 'origin/remora/main:shop/prices.py')).not.toMatch(/^import os/)
    expect(await clone.git('merge-base', 'origin/main', 'origin/remora/main')).toBe(second)

    await repository.mergePull(1)
    const run = async () => (await services.api.ask(`/v1/runs/${runId}`)).text()
    await until(run, { holds: (text) => text.includes('"state":"merged"'), withinMs: 30_000 })
    expect(JSON.parse(await run())).toMatchObject({
      funnel: expect.arrayContaining([expect.objectContaining({ merged: 1 })]),
    })
    expect(await repository.read('main', 'shop/stock.py')).toBe(`${kept}\n`)
  })

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
    await until(() => submit('prices'), { holds: ({ status }) => status === 202, withinMs: 20_000 })
    const { run_id: runId } = z.looseObject({ run_id: z.string() }).parse(await (await submit('prices')).json())
    expect(await services.api.follow(runId)).toMatchObject({ status: 'completed' })
    expect(repository.pulls()).toEqual([])
    expect((await post(`/v1/runs/${runId}/publish`, {})).status).toBe(202)
    await until(() => repository.pulls(), { holds: ({ length }) => length === 1, withinMs: 60_000 })
    expect(repository.pulls()).toMatchObject([{ base: { ref: 'work' }, head: { ref: 'remora/work' }, draft: true }])
    expect(await repository.read('remora/work', 'stock.py')).toMatch(/def count.*\n {4}"""/)
    expect((await submit('nowhere')).status).toBe(404)
  })
})
