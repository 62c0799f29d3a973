import chromium from '@sparticuz/chromium'
import { chromium as playwright, type Page } from 'playwright-core'
import type { Releaser } from '#platform/service-process.ts'

export type BenchBrowser = Awaited<ReturnType<typeof openBenchBrowser>>
/** What went wrong in the page is in `faults`. */
export type Visit = { page: Page; faults: string[]; close: () => Promise<void> }

/** Reading 100,000 operations takes long where the machine is busy. */
const patienceMs = 120_000

/** A Chromium, which comes as a package. */
export async function openBenchBrowser(releaser: Pick<Releaser, 'add'>) {
  const executablePath = await chromium.executablePath()
  const browser = await playwright.launch({ executablePath, args: ['--no-sandbox'], headless: true })
  releaser.add('browser', () => browser.close())
  return {
    version: browser.version(),
    /** Opens `link` as somebody who was never there, with nothing cached. `script` runs in the page before its own. */
    async visit(link: string, script: string): Promise<Visit> {
      const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
      const page = await context.newPage()
      page.setDefaultTimeout(patienceMs)
      const faults: string[] = []
      page.on('pageerror', (error) => faults.push(error.message))
      await page.addInitScript({ content: script })
      await page.goto(link)
      return { page, faults, close: () => context.close() }
    },
  }
}

/** Waits until a list has all of so many rows. */
export async function untilWhole(page: Page, rows: number): Promise<void> {
  await page.locator(`[aria-setsize="${rows}"]`).first().waitFor({ state: 'attached' })
}
