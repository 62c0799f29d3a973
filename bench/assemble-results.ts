import { readdir, readFile } from 'node:fs/promises'

const head = `# Results

Each section is written by the bench it names, on the machine and day it says. The machines are shared and noisy: compare
ratios, not times. \`npm run bench\` makes all of them anew, \`npm run chaos -- --seed 1 --runs 200 --record\` the last.
`

/**
 * RESULTS.md: the sections of results/, in this order, and the records of chaos, their headings one level down. One that
 * is not there is left out.
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
