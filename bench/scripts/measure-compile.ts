import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { checkScript } from '#tool-scripts/check-script.ts'
import { compileScript } from '#tool-scripts/compiled-script.ts'
import { openTypeChecker } from '#tool-scripts/type-checker.ts'
import { median } from '../reports/markdown-report.ts'
import { montyStarts } from '../peers/compile-monty.ts'

export type CompileFigures = {
  /** Microseconds per script, the median of the rounds over all scripts. */
  compile: number
  load: number
  /** Scripts per second. */
  checked: number
  typeChecked: number
}

/** The cost of the shipped scripts before they run: compiled by Monty, loaded from its dump, checked by `remora check`. */
export async function measureCompile(scripts: readonly ShippedScript[], rounds: number): Promise<CompileFigures> {
  const compiled = await Promise.all(scripts.map((script) => compileScript(script)))
  const starts = compiled.map(montyStarts)
  const typeChecker = openTypeChecker()
  const figures = { compile: [0], load: [0], check: [0], typeCheck: [0] }
  for (let round = 0; round <= rounds; round += 1) {
    const times = {
      compile: await secondsEach(starts, ({ compile }) => compile(), 50),
      load: await secondsEach(starts, ({ load }) => load(), 50),
      check: await secondsEach(scripts, ({ source, path }) => checkScript(source, path), 25),
      typeCheck: await secondsEach(scripts, ({ source, path }) => checkScript(source, path, { typeChecker }), 1),
    }
    for (const name of ['compile', 'load', 'check', 'typeCheck'] as const) {
      if (round === 0) figures[name].pop()
      else figures[name].push(times[name])
    }
  }
  await typeChecker.close()
  return {
    compile: median(figures.compile) * 1e6,
    load: median(figures.load) * 1e6,
    checked: 1 / median(figures.check),
    typeChecked: 1 / median(figures.typeCheck),
  }
}

async function secondsEach<T>(items: readonly T[], work: (item: T) => unknown, times: number): Promise<number> {
  const startedAt = performance.now()
  for (let time = 0; time < times; time += 1) for (const item of items) await work(item)
  return (performance.now() - startedAt) / 1_000 / times / items.length
}

const agents = fileURLToPath(new URL('../../agents/', import.meta.url))

export type ShippedScript = { path: string; source: string }

/** Every tool script of the bundles that come with Remora. */
export async function shippedScripts(): Promise<ShippedScript[]> {
  const files = await readdir(agents, { recursive: true })
  const paths = files.filter((path) => path.endsWith('.pym')).toSorted()
  return Promise.all(paths.map(async (path) => ({ path, source: await readFile(join(agents, path), 'utf8') })))
}
