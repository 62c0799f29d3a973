import { beforeAll, describe, expect, it } from 'vitest'
import { TokenCreated } from '#schemas/token-schema.ts'
import { until } from '#testing/until.ts'
import { expectAccessible, expectFits, untilShown, useBrowser } from '../browser.ts'
import { useOneProcess, useSourceFolder } from '../use-services.ts'

// The page as people use it, in a real Chromium against real services.

/** Turns the direction of the text behind it, so that it reads otherwise than it is. */
const turned = '\u202e'
const evil = `<img src=x onerror=alert(1)>${turned}`
const folder = useSourceFolder({
  'shop/stock.py': `import os\n\n\ndef label(row):\n    # ${evil} </script><script>alert(2)</script>\n    return f"shelf" + row\n\n\ndef price(row):\n    return row\n`,
  [`shop/${evil.replaceAll('/', '')}.py`]: `def odd(row):\n    return "${evil.replaceAll('"', '')}"\n`,
})
const services = useOneProcess()
const browser = useBrowser()
const agents = ['lint', 'docstring']

let runId: string
let operationId: string
beforeAll(async () => {
  runId = await services.api.submit(await folder.pack(), { agents, labels: { note: evil } })
  await services.api.follow(runId)
  const operations = await services.api.operations(runId)
  operationId = operations.find(({ agent, node }) => agent === 'docstring' && node.name === 'label')?.operation_id ?? ''
})

const link = (place = '#/runs', token = services.token) => `${services.named('api').origin}/${place}&token=${token}`
const verdicts = async (run = runId) => {
  const changes = await services.api.changes(run)
  return changes.map(({ verdict, decision }) => ({ verdict, reason: decision?.reason ?? null }))
}

async function anotherRun(): Promise<string> {
  const run = await services.api.submit(await folder.pack(), { agents })
  expect((await services.api.follow(run)).status).toBe('completed')
  return run
}

describe('the page', () => {
  it('takes the token out of the address, keeps it over a reload, and forgets it', async () => {
    const { page, faults, close } = await browser.visit(link())
    await page.getByRole('heading', { name: 'Runs' }).waitFor()
    expect(page.url()).not.toContain(services.token)
    await page.reload()
    await page
      .getByRole('link', { name: /lint, docstring/ })
      .first()
      .waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Token').waitFor()
    await page.reload()
    await page.getByLabel('Token').fill('nobody-has-this-token')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('unknown, expired or revoked').waitFor()
    expect(faults).toEqual([])
    await close()
  })

  it('shows a run that begins, while it happens, without being asked again', async () => {
    const { page, close } = await browser.visit(link())
    await page.getByRole('heading', { name: 'Runs' }).waitFor()
    const label = `seen-${Date.now()}`
    const run = await services.api.submit(await folder.pack(), { agents: ['lint'], labels: { label } })
    await page.locator(`a[href*="${run}"]`).first().click()
    await page.getByText(run).first().waitFor()
    await page.getByText('completed').first().waitFor()
    expect(page.url()).toContain(run)
    await close()
  })

  it.each(['#/runs/r00000000000000000', '#/nowhere/at/all', '#/runs/%00/x'])(
    'says of %s that it is not there',
    async (place) => {
      const { page, faults, close } = await browser.visit(link(place))
      await page.getByRole('alert').first().waitFor()
      expect(faults).toEqual([])
      await close()
    },
  )
})

describe('a review', () => {
  it('is made by keys alone: one rejected with a word, the rest accepted', async () => {
    const run = await anotherRun()
    const { page, close } = await browser.visit(link(`#/runs/${run}/review`))
    await page.getByRole('group', { name: 'Evidence' }).first().waitFor()
    const { length } = await verdicts(run)
    await page.keyboard.press('?')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.keyboard.press('r')
    await page.locator('textarea:focus').waitFor()
    await page.keyboard.type('say what it is')
    await page.keyboard.press('Enter')
    await until(async () => (await verdicts(run)).some(({ reason }) => reason === 'say what it is'))
    await page.locator('article').getByText('rejected', { exact: true }).waitFor()
    await page.keyboard.press('j')
    for (let at = 1; at < length; at += 1) {
      await page.keyboard.press('a')
      await until(async () => (await verdicts(run)).filter(({ verdict }) => verdict === 'accepted').length >= at)
    }
    const after = await verdicts(run)
    expect(after.filter(({ verdict }) => verdict === 'rejected')).toHaveLength(1)
    expect(after.filter(({ verdict }) => verdict === 'accepted')).toHaveLength(length - 1)
    await close()
  })

  it('is made by mouse, and two people see what the other decides', async () => {
    const run = await anotherRun()
    const one = await browser.visit(link(`#/runs/${run}/review`))
    const other = await browser.visit(link(`#/runs/${run}/review`))
    await other.page.getByRole('button', { name: 'Reject', exact: true }).first().waitFor()
    await one.page.getByRole('button', { name: 'Reject', exact: true }).first().click()
    await one.page.getByLabel('Why not?').fill('not this one')
    await one.page.locator('form').getByRole('button', { name: 'Reject', exact: true }).click()
    await other.page.getByText('not this one').first().waitFor()
    await one.page.getByRole('button', { name: 'Accept all pending …' }).click()
    await one.page
      .getByRole('dialog')
      .getByRole('button', { name: /^Accept \d/ })
      .click()
    await until(async () => (await verdicts(run)).every(({ verdict }) => verdict !== 'pending'))
    expect((await verdicts(run)).filter(({ verdict }) => verdict === 'rejected')).toHaveLength(1)
    await one.page.getByRole('button', { name: 'Take back all shown …' }).click()
    await one.page
      .getByRole('dialog')
      .getByRole('button', { name: /^Take back \d/ })
      .click()
    await until(async () => (await verdicts(run)).every(({ verdict }) => verdict === 'pending'))
    await Promise.all([one.close(), other.close()])
  })

  it('says of a change that was rejected and made anew that it is the same', async () => {
    const run = await services.api.submit(await folder.pack(), { agents: ['docstring'], paths: ['shop/stock.py'] })
    await services.api.follow(run)
    const { page, close } = await browser.visit(link(`#/runs/${run}/review`))
    await page.getByRole('button', { name: 'Reject', exact: true }).first().click()
    await page.getByLabel('Why not?').fill('say what it is')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Have 1 rejected change made anew' }).click()
    await page.getByText('has made the same change again').waitFor()
    expect((await verdicts(run)).filter(({ reason }) => reason === 'say what it is')).toHaveLength(1)
    await close()
  })

  it('is only looked at with a token that reads', async () => {
    const made = await services.api.ask('/v1/tokens', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ scopes: ['runs:read'] }),
    })
    const { token } = TokenCreated.parse(await made.json())
    const { page, close } = await browser.visit(link(`#/runs/${runId}/review`, token))
    await page.getByRole('group', { name: 'Evidence' }).first().waitFor()
    expect(await page.getByRole('button', { name: 'Accept', exact: true }).count()).toBe(0)
    await close()
  })
})

const parts = ['', '/timeline', '/tree', '/operations', '/operations/OPERATION', '/review', '/questions']
const places = parts.map((part) => `#/runs/RUN${part}`)
const shown = (place: string) => link(place.replace('RUN', runId).replace('OPERATION', operationId))

describe.each([...places, '#/runs', '#/submit', '#/inbox', '#/agents', '#/fleet', '#/usage'])('%s', (place) => {
  it('has nothing that axe objects to, in both themes, and shows what is hostile as text', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, faults, close } = await browser.visit(shown(place), { colorScheme })
      await page.getByRole('heading', { level: 1 }).waitFor()
      await untilShown(page)
      await expectAccessible(page)
      expect(await page.locator('img').count()).toBe(0)
      expect(await page.locator('body').innerText()).not.toContain(turned)
      expect(faults).toEqual([])
      await close()
    }
  })

  it('fits on a phone', async () => {
    const { page, close } = await browser.visit(shown(place), {
      viewport: { width: 390, height: 844 },
    })
    await page.getByRole('heading', { level: 1 }).waitFor()
    await expectFits(page)
    await close()
  })
})
