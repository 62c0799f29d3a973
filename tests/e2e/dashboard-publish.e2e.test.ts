import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RunAccepted } from '#schemas/run-schema.ts'
import type { FakeRepository } from '#testing/fake-github/host-repository.ts'
import { lacks } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'
import { useBrowser } from '../browser.ts'
import { startHost } from '../github-host.ts'
import { type OneProcess, startInOneProcess } from '../one-process.ts'

// A reviewer's whole way through the page, from why something failed to the pull request.

const files = {
  'stock.py':
    'def count(items: list) -> int:\n    return len(items)\n\n\ndef double(number: int) -> int:\n    return number * 2\n',
  'prices.py': 'def price(amount: int) -> int:\n    # [[rehearsal:fault=503]]\n    return amount * 3\n',
}

describe.skipIf(lacks('git'))('the page of services with a GitHub App', () => {
  const browser = useBrowser()
  let host: Awaited<ReturnType<typeof startHost>>
  let services: OneProcess
  beforeAll(async () => {
    const worker = { REMORA_MODEL_RETRY_BUDGET_MS: '400' }
    host = await startHost({ envOf: (service) => (service === 'worker' ? worker : {}) })
    services = await startInOneProcess(host.options)
    host.github.install({ account: 'acme' })
  })
  afterAll(async () => {
    await services.close()
    await host.stop()
  })
  const link = (place: string) => `${services.named('api').origin}/${place}&token=${services.token}`
  const submit = async (name: string) => {
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ agents: ['docstring'], repository: { url: `acme/${name}`, ref: 'work' } })
    const ask = () => services.api.ask('/v1/runs', { method: 'POST', headers, body })
    const answer = await until(ask, { holds: ({ status }) => status === 202, withinMs: 30_000 })
    return RunAccepted.parse(await answer.json()).run_id
  }
  const ofOneFailure = async (name: string) => {
    const repository = await host.github.addRepository({ owner: 'acme', name, files: { 'README.md': '# Shop\n' } })
    await repository.humanCommit('work', files)
    const runId = await submit(name)
    expect(await services.api.follow(runId)).toMatchObject({ status: 'completed' })
    return { repository, runId }
  }
  const expectPublished = async (repository: FakeRepository, runId: string) => {
    const changes = await services.api.changes(runId)
    const decided = changes.map(({ verdict, decision }) => `${verdict} ${decision?.reason ?? ''}`.trim())
    expect(decided.toSorted()).toEqual(['accepted', 'rejected says nothing'])
    expect(repository.pulls()).toMatchObject([{ state: 'open', head: { ref: 'remora/work' } }])
    const published = await repository.read('remora/work', 'stock.py')
    expect(published?.match(/"""/g)).toHaveLength(2)
  }

  it('leads by mouse from a failure to the pull request', async () => {
    const { repository, runId } = await ofOneFailure('mouse')
    const { page, faults, close } = await browser.visit(link('#/runs'))
    await page.locator(`a[href*="${runId}"]`).first().click()
    const failures = page.getByRole('region', { name: 'Failures' })
    await failures.getByText('AGENT_002').waitFor()
    await failures.getByRole('link').first().click()
    await page.getByText('[[rehearsal:fault=503]]').first().waitFor()
    await page.goBack()
    await page.getByRole('link', { name: 'Review', exact: true }).first().click()
    await page.getByRole('button', { name: 'Reject', exact: true }).first().click()
    await page.getByLabel('Why not?').fill('says nothing')
    await page.locator('form').getByRole('button', { name: 'Reject', exact: true }).click()
    await page.getByRole('button', { name: 'Accept all pending …' }).click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Accept \d/ })
      .click()
    await page.getByRole('button', { name: 'Open the pull request' }).click()
    await page
      .getByRole('link', { name: /^Pull request \d+/ })
      .first()
      .waitFor()
    await expectPublished(repository, runId)
    expect(faults).toEqual([])
    await close()
  })

  it('leads by keys alone from a failure to the pull request', async () => {
    const { repository, runId } = await ofOneFailure('keys')
    const { page, faults, close } = await browser.visit(link('#/runs'))
    await press(page, page.locator(`a[href*="${runId}"]`).first())
    const failures = page.getByRole('region', { name: 'Failures' })
    await press(page, failures.getByRole('link').first())
    await page.getByText('[[rehearsal:fault=503]]').first().waitFor()
    await press(page, page.getByRole('link', { name: `Run ${runId}` }).first())
    await press(page, page.getByRole('link', { name: 'Review', exact: true }).first())
    await page.getByRole('group', { name: 'Evidence' }).first().waitFor()
    await page.keyboard.press('r')
    await page.locator('textarea:focus').waitFor()
    await page.keyboard.type('says nothing')
    await page.keyboard.press('Enter')
    await page.locator('article').getByText('rejected', { exact: true }).waitFor()
    await page.keyboard.press('A')
    await press(page, page.getByRole('dialog').getByRole('button', { name: 'Accept 1 change' }))
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.keyboard.press('p')
    await page.keyboard.press('Enter')
    await page
      .getByRole('link', { name: /^Pull request \d+/ })
      .first()
      .waitFor()
    await expectPublished(repository, runId)
    expect(faults).toEqual([])
    await close()
  })
})

/** Goes to what `wanted` names by the Tab key, as a person without a mouse does, and presses it. */
async function press(page: Page, wanted: Locator): Promise<void> {
  await wanted.waitFor()
  for (let steps = 0; steps < 200; steps += 1) {
    if ((await wanted.and(page.locator(':focus')).count()) > 0) return page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
  }
  throw new Error(`the Tab key does not lead to ${String(wanted)}`)
}
