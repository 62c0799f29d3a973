import { expect, it } from 'vitest'
import { useBrowser } from '../browser.ts'
import { useServices, useSourceFolder } from '../use-services.ts'

const services = useServices()
const browser = useBrowser()
const folder = useSourceFolder({
  'stock.py': 'def count(items):\n    return len(items)\n\n\ndef double(number):\n    return number * 2\n',
})

it('says on the page of a run that the service is lost, and shows what was missed once it is there again', async () => {
  await services.setModel('latency', { ms: 4_000 })
  const runId = await services.api.submit(await folder.pack(), { agents: ['docstring'] })
  const link = `${services.named('api').origin}/#/runs/${runId}&token=${services.token}`
  const { page, faults, close } = await browser.visit(link)
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
