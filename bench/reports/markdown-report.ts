import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { cpus, totalmem } from 'node:os'
import { z } from 'zod'

/** One column of a table: its title, and how a row's cell is written. */
export type Column<Row> = readonly [title: string, cell: (row: Row) => string | number]

/** Where the figures of a section come from. `facts` replaces machine and versions where the figures do not depend on them. */
export type Origin = { command: string; redisVersion?: string; tookMs?: number; facts?: readonly string[] }

/** Writes a section to results/NAME.md, from which RESULTS.md is assembled; with `quick` it is printed instead. */
export async function saveReport(name: string, text: string, { quick }: { quick: boolean }): Promise<void> {
  if (quick) return console.log(text)
  const results = new URL('../results/', import.meta.url)
  await mkdir(results, { recursive: true })
  await writeFile(new URL(`${name}.md`, results), `${text.trimEnd()}\n`)
}

/** The heading of a section, and the sentence that says where, when and with which versions it was measured. */
export function sectionHead(title: string, { command, redisVersion, tookMs, facts }: Origin): string {
  const today = new Date().toISOString().slice(0, 10)
  const took = tookMs === undefined ? '' : `, in ${Math.round(tookMs / 1000)} s`
  const redis = redisVersion === undefined ? [] : [`Redis ${redisVersion}`]
  const machine = [machineName(), `Node ${process.version}`, ...redis]
  return `# ${title}\n\nWritten by \`${command}\` on ${today}${took}: ${(facts ?? machine).join(', ')}.\n`
}

/** `2 × AMD EPYC, 24 GiB` */
export function machineName(): string {
  const [cpu] = cpus()
  return `${cpus().length} × ${cpu?.model.trim() ?? 'unknown CPU'}, ${Math.round(totalmem() / 2 ** 30)} GiB`
}

/** `zod 4.6.7`: an installed package of this repository, or of the folder that has its own `node_modules`. */
export function packageText(name: string, folder = '../../'): string {
  const manifest = new URL(`${folder}node_modules/${name}/package.json`, import.meta.url)
  const { version } = z.object({ version: z.string() }).parse(JSON.parse(readFileSync(manifest, 'utf8')))
  return `${name} ${version}`
}

/** A Markdown table. */
export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  return [
    tableLine(columns.map(([title]) => title)),
    tableLine(columns.map(() => '---')),
    ...rows.map((row) => tableLine(columns.map(([, cell]) => cell(row)))),
  ].join('\n')
}

function tableLine(cells: readonly (string | number)[]): string {
  return `|${cells.map((cell) => (cell === '' ? ' ' : ` ${cell} `)).join('|')}|`
}

/** A cell of `median (least–most)` and a unit. */
export function spread<Row>(
  valuesOf: (row: Row) => readonly number[],
  digits: number,
  unit = '',
): (row: Row) => string {
  return (row) => spreadText(valuesOf(row), digits) + unit
}

function spreadText(values: readonly number[], digits: number): string {
  const [least, most] = [Math.min(...values), Math.max(...values)]
  return `${median(values).toFixed(digits)} (${least.toFixed(digits)}–${most.toFixed(digits)})`
}

/** The middle value, or the mean of the two middle ones. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.floor(sorted.length / 2)]]
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2
}

/** A paragraph for each fault that makes the figures doubtful. */
export function notProved(faults: readonly string[]): string {
  return faults.map((fault) => `\n**Not proved:** ${fault}`).join('')
}

export function verdict(isMet: boolean): string {
  return isMet ? 'met' : 'missed'
}
