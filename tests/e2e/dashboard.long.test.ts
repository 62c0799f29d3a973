import { expect, it } from 'vitest'
import { expectAccessible, expectFits, untilShown, useBrowser } from '../browser.ts'
import { useServices, useSourceFolder } from '../use-services.ts'

// The page over services that are processes of their own: with a conductor, and with an API that can be killed.

const services = useServices({ conductorEnv: { REMORA_CONDUCTOR_MODEL: 'rehearsal/basic' } })
const browser = useBrowser()
const folder = useSourceFolder({
  'stock.py': 'def count(items):\n    return len(items)\n\n\ndef double(number):\n    return number * 2\n',
})
const agents = ['docstring']
const link = (place: string) => `${services.named('api').origin}/#/runs/${place}&token=${services.token}`

it('says that the service is lost, and shows what was missed once it is there again', async () => {
  await services.setModel('latency', { ms: 4_000 })
  const runId = await services.api.submit(await folder.pack(), { agents })
  const { page, faults, close } = await browser.visit(link(runId))
  await page.getByRole('status').getByText('live', { exact: true }).waitFor()
  services.named('api').kill('SIGKILL')
  await page.getByText('not connected, trying again').waitFor()
  await services.setModel('latency', { ms: 0 })
  await services.startAgain('api')
  await page.getByText(/live; \d+ events? were missed and are shown|ended; /).waitFor()
  await page.getByText('completed').first().waitFor()
  expect(await services.api.follow(runId)).toMatchObject({ status: 'completed' })
  expect(faults).toEqual([])
  await close()
})

it('is right again when the laptop has slept for an hour', async () => {
  await services.setModel('latency', { ms: 4_000 })
  const runId = await services.api.submit(await folder.pack(), { agents })
  const { page, faults, close } = await browser.visit(link(runId))
  await page.clock.install()
  await page.reload()
  await page.getByRole('status').getByText('live', { exact: true }).waitFor()
  await page.context().setOffline(true)
  await services.setModel('latency', { ms: 0 })
  await services.api.follow(runId)
  await page.clock.fastForward('01:00:00')
  await page.context().setOffline(false)
  await page.getByText('ended; what others decide shows here at once').waitFor()
  await page.getByText('2 of 2').first().waitFor()
  expect(faults).toEqual([])
  await close()
})

it('shows the plan of an objective while it waits, has it approved, and then says how it ended', async () => {
  const request = { agents, objective: 'every function is explained', approval: 'plan' }
  const runId = await services.api.submit(await folder.pack(), request)
  const visits = (['light', 'dark'] as const).map((colorScheme) =>
    browser.visit(link(`${runId}/plan`), { colorScheme, viewport: { width: 390, height: 844 } }),
  )
  const [first, second] = await Promise.all(visits)
  await first?.page.getByRole('button', { name: 'Approve', exact: true }).click()
  await first?.page.getByRole('dialog').getByRole('button', { name: 'Approve', exact: true }).click()
  for (const { page, faults, close } of [first, second].filter((visit) => visit !== undefined)) {
    await page.getByText('completed').first().waitFor()
    await untilShown(page)
    await expectAccessible(page)
    await expectFits(page)
    expect(faults).toEqual([])
    await close()
  }
  expect((await services.api.operations(runId)).map(({ status }) => status)).toEqual(['succeeded', 'succeeded'])
})
