import { readFile } from 'node:fs/promises'

const head = `# Results

Each bench writes its newest result into a file of its own; earlier ones are in git, and versions of packages that a page
does not name are in the lockfile of its commit. The machines are shared and noisy: compare ratios, not times. \`npm run bench\` makes
all of them anew, \`npm run chaos -- --seed 1 --runs 200 --record\` those of chaos, \`npm run e2e:model\` that of real servers.

`

/** The text of RESULTS.md: a link to each section in results/ that is there, in this order, with its day. */
export async function assembleResults(names: readonly string[]): Promise<string> {
  const lines = await Promise.all(names.map(linkSection))
  return `${head}${lines.flatMap((line) => line ?? []).join('\n')}\n`
}

async function linkSection(name: string): Promise<string | undefined> {
  const text = await readFile(new URL(`results/${name}.md`, import.meta.url), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const title = /^# (.+)$/m.exec(text)?.[1] ?? name
  const day = /\b\d{4}-\d{2}-\d{2}\b/.exec(text)?.[0]
  return `- [${title}](results/${name}.md)${day === undefined ? '' : `, ${day}`}`
}

/** The benches of `npm run bench`, in the order of RESULTS.md. */
export const benches = [
  'real',
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
  'streams',
  'push',
  'fairness',
  'outage',
  'outage-services',
  'watcher',
  'objectives',
  'composition',
  'growth',
  'review',
  'page',
  'workspace',
  'python-agreement',
  'scripts',
  'sandbox',
  'repositories',
  'gate',
  'agents',
] as const

/** The sections of RESULTS.md: those of the benches, and those that others write. */
export const resultSections: readonly string[] = [
  ...benches,
  'real-servers',
  'bare-machine',
  'chaos',
  'chaos-pushes',
  'chaos-machines',
]
