import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lacks } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'
import { openPersonClone, startWithGitHub } from './github-host.ts'
import { openPrograms } from './program.ts'

const shop = {
  'shop/stock.py':
    'def count(items: list) -> int:\n    return len(items)\n\n\ndef double(number: int) -> int:\n    return number * 2\n',
  'shop/prices.py':
    'import os\n\n\ndef price(amount: int) -> int:\n    """The price of an amount."""\n    return amount * 3\n',
  'remora.yaml': 'github:\n  agents: [lint, docstring]\n  labels: [remora]\n',
}

describe.skipIf(lacks('git'))('a push to a repository with the GitHub App', () => {
  const programs = openPrograms()
  let host: Awaited<ReturnType<typeof startWithGitHub>>
  beforeAll(async () => {
    host = await startWithGitHub(programs)
    host.github.install({ account: 'acme' })
  })
  afterAll(async () => {
    await programs.end()
    await host.stop()
  })

  it('leads to a check run and one pull request, which a later push keeps and a person merges', async () => {
    const { github, services, checked } = host
    const repository = await github.addRepository({ owner: 'acme', name: 'shop', files: { 'README.md': '# Shop\n' } })
    const clone = await openPersonClone(repository.gitPath)
    try {
      await checked(repository, await clone.push(shop, 'The shop'))
      expect(repository.checkRuns()).toMatchObject([{ conclusion: 'neutral' }])
      expect(repository.pulls()).toMatchObject([{ state: 'open', draft: true, head: { ref: 'remora/main' } }])
      await clone.git('fetch', '--quiet', 'origin')
      expect(await clone.git('log', '--format=%an %s', 'origin/main..origin/remora/main')).toMatch(
        /^remora-test\[bot\] .+\nremora-test\[bot\] .+$/,
      )
      expect(await clone.git('show', 'origin/remora/main:shop/stock.py')).toMatch(/def count.*\n {4}"""/)
      expect(await clone.git('show', 'origin/remora/main:shop/prices.py')).not.toMatch(/^import os/)

      const changed = `${shop['shop/stock.py']}\n\ndef triple(number: int) -> int:\n    return number * 3\n`
      const second = await clone.push({ 'shop/stock.py': changed }, 'Triple')
      const runId = await checked(repository, second)
      const jobs = await services.api.operations(runId)
      expect(jobs.length).toBeGreaterThan(0)
      expect(jobs.length).toBeLessThanOrEqual(5)
      expect(repository.pulls()).toHaveLength(1)
      await clone.git('fetch', '--quiet', 'origin')
      const kept = await clone.git('show', 'origin/remora/main:shop/stock.py')
      expect(kept).toMatch(/def count.*\n {4}"""/)
      expect(kept).toMatch(/def triple.*\n {4}"""/)
      expect(await clone.git('show', 'origin/remora/main:shop/prices.py')).not.toMatch(/^import os/)
      expect(await clone.git('merge-base', 'origin/main', 'origin/remora/main')).toBe(second)

      await repository.mergePull(1)
      const merged = async () => {
        const answer = await services.api.ask(`/v1/runs/${runId}`)
        return (await answer.text()).includes('"state":"merged"')
      }
      await until(merged, { withinMs: 30_000 })
      const counted = await (await services.api.ask(`/v1/runs/${runId}`)).json()
      expect(counted).toMatchObject({ funnel: expect.arrayContaining([expect.objectContaining({ merged: 1 })]) })
      expect(await repository.read('main', 'shop/stock.py')).toBe(`${kept}\n`)
    } finally {
      await clone.remove()
    }
  })
})
