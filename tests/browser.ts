import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import chromium from '@sparticuz/chromium'
import { type Browser, type BrowserContextOptions, chromium as playwright, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { z } from 'zod'
import { until } from '#testing/until.ts'
import { repository } from './program.ts'

/** A page that shows nothing for so long hangs, also on a busy machine. */
const patienceMs = 30_000

export type Visit = Pick<BrowserContextOptions, 'viewport' | 'colorScheme'>

/** Builds the page, and opens a Chromium, which comes as a package. Each visit is a browser of its own, with nothing kept. */
export function useBrowser() {
  const open: { browser?: Browser } = {}
  beforeAll(async () => {
    await promisify(execFile)(process.execPath, ['scripts/build-dashboard.ts'], { cwd: repository })
    const executablePath = await chromium.executablePath()
    // The package's own arguments run all in one process, which ends with its first visit.
    open.browser = await playwright.launch({ executablePath, args: ['--no-sandbox'], headless: true })
  })
  afterAll(() => open.browser?.close())
  return {
    /** Opens `link` as somebody who was never there. What goes wrong in the page is in `faults`. */
    async visit(link: string, { viewport = { width: 1280, height: 900 }, colorScheme = 'light' }: Visit = {}) {
      if (open.browser === undefined) throw new Error('the browser is not open yet')
      const context = await open.browser.newContext({ viewport, colorScheme })
      const page = await context.newPage()
      page.setDefaultTimeout(patienceMs)
      const faults: string[] = []
      page.on('pageerror', (error) => faults.push(error.message))
      page.on('dialog', (dialog) => faults.push(`it asked: ${dialog.message()}`))
      page.on('console', (line) => {
        if (line.type() === 'error' && /Content Security Policy|TrustedHTML/.test(line.text())) faults.push(line.text())
      })
      await page.goto(link)
      return { page, faults, close: () => context.close() }
    },
  }
}

const axeSource = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const AxeResults = z.object({
  violations: z.array(z.object({ id: z.string(), nodes: z.array(z.object({ html: z.string() })) })),
})

/** Expects that axe finds nothing that keeps people from using the page. It is evaluated by the debugger, which the page's policy does not bind. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(await axeSource)
  const { violations } = AxeResults.parse(await page.evaluate('axe.run(document)'))
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}`)).toEqual([])
}

/** Expects that nothing stands out of the window to the right. */
export async function expectFits(page: Page): Promise<void> {
  const widths = await page.evaluate('[document.documentElement.scrollWidth, document.documentElement.clientWidth]')
  const [whole = 0, seen = 0] = z.array(z.number()).parse(widths)
  expect(whole).toBeLessThanOrEqual(seen)
}

/** Waits until nothing of the page is still being read. */
export async function untilShown(page: Page): Promise<void> {
  await until(() => page.getByText('…', { exact: true }).count(), { holds: (count) => count === 0 })
}
