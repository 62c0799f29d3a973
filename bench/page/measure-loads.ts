import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { z } from 'zod'
import { type BenchBrowser, untilWhole } from './bench-browser.ts'

/** Times are in ms since the visit began. `rowsMs`: the first row was in the page; `wholeMs`: the list had all. */
export type Load = { firstPaintMs: number; rowsMs: number; wholeMs: number; assets: string[]; transferred: number }

/** `rows`: of a list that is read bit by bit; without it, `wholeMs` is that of the first row. */
export type LoadedPlace = { name: string; link: string; rows?: number }

/** Notes when rows come into the page. */
const script = (rows: number) => `
globalThis.seenAt = { rows: 0, whole: 0 }
new MutationObserver(() => {
  const row = document.querySelector('.virtual-row, tbody tr')
  if (row === null) return
  seenAt.rows ||= performance.now()
  if (Number(row.getAttribute('aria-setsize')) >= ${rows}) seenAt.whole ||= performance.now()
}).observe(document, { subtree: true, childList: true, attributes: true })
`
const read = `({
  ...seenAt,
  paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0,
  files: performance.getEntriesByType('resource').map(({ name, transferSize }) => ({ name, transferSize })),
})`

const Seen = z.object({
  rows: z.number().positive(),
  whole: z.number().positive(),
  paint: z.number().positive(),
  files: z.array(z.object({ name: z.string(), transferSize: z.number() })),
})

export async function measureLoad(browser: BenchBrowser, { name, link, rows = 0 }: LoadedPlace): Promise<Load> {
  const { page, faults, close } = await browser.visit(link, script(rows))
  await page.locator('.virtual-row, tbody tr').first().waitFor({ state: 'attached' })
  if (rows > 0) await untilWhole(page, rows)
  const seen = Seen.parse(await page.evaluate(read))
  await close()
  if (faults.length > 0) throw new Error(`${name}: ${faults.join(', ')}`)
  const assets = seen.files.filter((file) => file.name.includes('/assets/'))
  return {
    firstPaintMs: seen.paint,
    rowsMs: seen.rows,
    wholeMs: seen.whole,
    assets: assets.map((file) => file.name.slice(file.name.lastIndexOf('/') + 1)),
    transferred: assets.reduce((sum, { transferSize }) => sum + transferSize, 0),
  }
}

export type BuiltFile = { name: string; bytes: number; gzip: number }

/** The scripts and styles of the built page, with their sizes. */
export async function builtFiles(folder: string): Promise<BuiltFile[]> {
  const names = (await readdir(folder)).filter((name) => /\.(?:js|css)$/.test(name))
  return Promise.all(
    names.map(async (name) => {
      const content = await readFile(join(folder, name))
      return { name, bytes: content.length, gzip: gzipSync(content, { level: 9 }).length }
    }),
  )
}
