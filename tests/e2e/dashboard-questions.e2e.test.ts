import { join } from 'node:path'
import { expect, it } from 'vitest'
import { until } from '#testing/until.ts'
import { askingAgent, choosingAgent } from '../asking-agent.ts'
import { useBrowser } from '../browser.ts'
import { useOneProcess, useSourceFolder } from '../use-services.ts'

// What people are asked, by mouse: in the inbox, and again after they have rejected what came of it.

const bundles = useSourceFolder({ ...askingAgent, ...choosingAgent })
const folder = useSourceFolder({
  'shop.py': 'def shelf():\n    return 1\n',
  'price.py': 'def price():\n    return 1\n',
})
const services = useOneProcess(() => ({ env: { REMORA_AGENTS_DIR: join(bundles.path, 'agents') } }))
const browser = useBrowser()
const link = (place: string) => `${services.named('api').origin}/${place}&token=${services.token}`

it('takes answers, and shows what a retry was told and said beside what was rejected', async () => {
  const asks = [
    { agents: ['purpose'], paths: ['shop.py'] },
    { agents: ['choosing'], paths: ['price.py'] },
  ]
  const archive = await folder.pack()
  const [written = '', chosen = ''] = await Promise.all(asks.map((ask) => services.api.submit(archive, ask)))
  const { page, faults, close } = await browser.visit(link('#/inbox'))
  const of = (runId: string) => page.getByRole('region', { name: `Run ${runId}` })
  await of(chosen).getByRole('button', { name: 'show', exact: true }).click()
  await of(written).getByLabel('Answer').fill('keeping <b>things</b>')
  await of(written).getByRole('button', { name: 'Answer', exact: true }).click()
  await of(written).getByText('Answered', { exact: true }).waitFor()
  expect(await services.api.follow(chosen)).toMatchObject({ status: 'completed' })
  await services.api.follow(written)

  await page.goto(link(`#/runs/${written}/review`))
  await page.getByText('# keeping <b>things</b>').first().waitFor()
  await page.getByRole('button', { name: 'Reject', exact: true }).first().click()
  await page.getByLabel('Why not?').fill('say what it holds')
  await page.locator('form').getByRole('button', { name: 'Reject', exact: true }).click()
  await page.getByRole('button', { name: /made anew$/ }).click()
  await page.getByRole('link', { name: /^Questions/ }).click()
  await page.getByLabel('Answer').fill('holding tins')
  await page.getByRole('button', { name: 'Answer', exact: true }).click()
  await until(async () => (await services.api.follow(written)).status, { holds: (status) => status === 'completed' })
  const last = (await services.api.operations(written)).at(-1)?.operation_id
  await page.goto(link(`#/runs/${written}/operations/${last}`))
  await page.getByLabel('Beside it').selectOption('generation 1')
  const conversation = page.getByRole('region', { name: 'Conversation' })
  await conversation.getByText('say what it holds').first().waitFor()
  await conversation.getByText('keeping <b>things</b>').first().waitFor()
  await close()
  expect(faults).toEqual([])
})
