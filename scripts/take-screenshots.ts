import { join } from 'node:path'
import { parseArgs } from 'node:util'
import chromium from '@sparticuz/chromium'
import { chromium as playwright } from 'playwright-core'

/**
 * `node scripts/take-screenshots.ts LINK --run RUN --operation OPERATION --planned RUN`: draws every page of a stack, in both themes, into
 * docs/images/dashboard. LINK is what `remora up` prints; `--planned` names a run with an objective. docs/guide/dashboard.md shows some of them.
 */
const text = { type: 'string' } as const
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { run: text, operation: text, planned: text },
})
const [origin = '', token = ''] = (positionals[0] ?? '').split('/#/runs&token=')
const { run = '', operation = '', planned = '' } = values
if ([token, run, operation, planned].includes(''))
  throw new Error('usage: node scripts/take-screenshots.ts LINK --run RUN --operation OPERATION --planned RUN')

const places = {
  runs: 'runs',
  submit: 'submit',
  overview: `runs/${run}`,
  timeline: `runs/${run}/timeline`,
  tree: `runs/${run}/tree`,
  operations: `runs/${run}/operations`,
  operation: `runs/${run}/operations/${operation}`,
  review: `runs/${run}/review`,
  plan: `runs/${planned}/plan`,
  inbox: 'inbox',
  agents: 'agents',
  fleet: 'fleet',
  usage: 'usage',
}

/** All that a page asks for has come after this time. */
const settlesMs = 2_000

const browser = await playwright.launch({ executablePath: await chromium.executablePath(), args: ['--no-sandbox'] })
for (const colorScheme of ['light', 'dark'] as const) {
  const context = await browser.newContext({ colorScheme, viewport: { width: 1280, height: 800 } })
  const page = await context.newPage()
  await page.goto(`${origin}/#/runs&token=${token}`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  for (const [name, place] of Object.entries(places)) {
    await page.goto('about:blank') // another fragment alone would leave the page of before there for a moment
    await page.goto(`${origin}/#/${place}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    // A page keeps its stream open, so that its network is never idle.
    await page.waitForTimeout(settlesMs)
    await page.screenshot({ path: join('docs/images/dashboard', `${name}-${colorScheme}.png`), animations: 'disabled' })
  }
  await context.close()
}
await browser.close()
