import { createHash } from 'node:crypto'
import { hunkId, type Hunk } from './hunks.ts'

export type PackageHunks = { name: string; hunks: readonly Hunk[] }

const seed = 'remora 1'
const entry = /^## ([0-9a-f]{12}) [^]*?^verdict: ?(.*)$/gm
const head = `# A sample of hunks, read by eye

Drawn by \`npm run bench -- --only repositories\`, over all hunks of the patches of all packages: those whose hash with a
fixed seed is lowest, so that a change of the product exchanges only the hunks it changes. A reader writes the verdict a
maintainer of that repository would give: \`accept\`, or \`refuse — why\`. Rehearsal texts of docstrings are judged by place,
form, style and parameters, not by wording. A verdict is kept as long as its hunk is the same.
`

export type Verdicts = { accepted: number; refused: number; open: number }

/** The Markdown of \`size\` hunks, with the verdicts that \`written\`, an earlier such text, has for the same ones. */
export function renderSample(packages: readonly PackageHunks[], written: string, size: number): string {
  const verdicts = new Map(Array.from(written.matchAll(entry), ([, id = '', verdict = '']) => [id, verdict.trim()]))
  const ranked = packages
    .flatMap(({ name, hunks }) => hunks.map((hunk) => ({ name, hunk, id: hunkId(name, hunk) })))
    .map((one) => ({ ...one, rank: createHash('sha256').update(`${seed}\0${one.id}`).digest('hex') }))
    .toSorted((one, other) => (one.rank < other.rank ? -1 : 1))
  // The same change in two places of one file is one thing to read.
  const chosen = [...new Map(ranked.map((one) => [one.id, one])).values()].slice(0, size)
  const entries = chosen
    .toSorted((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1))
    .map(({ name, hunk, id }) =>
      [
        `## ${id} ${name}, ${hunk.agent}, ${hunk.file}`,
        '',
        '~~~~diff',
        hunk.diff,
        '~~~~',
        '',
        `verdict: ${verdicts.get(id) ?? ''}`.trimEnd(),
        '',
      ].join('\n'),
    )
  return [head, ...entries].join('\n')
}

function placeOf({ name, hunk }: { name: string; hunk: Hunk }): string {
  return [name, hunk.file, String(hunk.line).padStart(7, '0')].join('\0')
}

/** How many hunks of a sample have which verdict. */
export function countVerdicts(sample: string): Verdicts {
  const verdicts = Array.from(sample.matchAll(entry), ([, , verdict = '']) => verdict.trim())
  const of = (word: string) => verdicts.filter((verdict) => verdict.startsWith(word)).length
  const [accepted, refused] = [of('accept'), of('refuse')]
  return { accepted, refused, open: verdicts.length - accepted - refused }
}
