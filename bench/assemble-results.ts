import { readdir, readFile } from 'node:fs/promises'

const head = `# Results

Each section is written by the bench it names, on the machine and day it says. The machines are shared and noisy: compare
ratios, not times. \`npm run bench\` makes all of them anew, \`npm run chaos -- --seed 1 --runs 200 --record\` the last.
`

/**
 * The text of RESULTS.md: the sections of results/, in this order, and the records of chaos, with headings one level down.
 * A section without a file is left out.
 */
export async function assembleResults(names: readonly string[]): Promise<string> {
  const files = await readdir(new URL('results/', import.meta.url))
  const records = files.filter((name) => name.startsWith('chaos-')).map((name) => name.slice(0, -'.md'.length))
  const sections = await Promise.all([...names, ...records.toSorted()].map(readSection))
  return [head, ...sections.flatMap((section) => section ?? [])].join('\n')
}

async function readSection(name: string): Promise<string | undefined> {
  const text = await readFile(new URL(`results/${name}.md`, import.meta.url), 'utf8').catch(() => undefined)
  // Their links are relative to results/, those of RESULTS.md to the folder above.
  return text?.replaceAll(/^#/gm, '##').replaceAll('](../', '](').trimEnd().concat('\n')
}

/** The benches of `npm run bench`, in the order of RESULTS.md. */
export const benches = [
  'operation',
  'traces',
  'discovery',
  'ledger',
  'loop',
  'pool',
  'utilisation',
  'workers',
  'start',
  'memory',
  'archives',
  'webhooks',
  'push',
  'fairness',
  'outage',
  'outage-services',
  'composition',
  'growth',
  'review',
  'workspace',
  'python-agreement',
  'scripts',
  'sandbox',
  'repositories',
  'gate',
  'agents',
] as const

/** The sections of RESULTS.md before the records of chaos: those of the benches, and two that others write. */
export const resultSections: readonly string[] = [...benches, 'real-servers', 'bare-machine']
