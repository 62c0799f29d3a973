import { createHash } from 'node:crypto'
import { parsePatch, type StructuredPatchHunk } from 'diff'
import { z } from 'zod'
import type { BothSides, SourceFacts } from './source-facts.ts'

export type PackageHunks = { name: string; hunks: readonly Hunk[] }

const seed = 'remora 1'

/**
 * Hunks of the patches of all packages that a reader judges as a maintainer of that repository would: `accept`, or
 * `refuse — why`; `''` before it is read. Rehearsal texts of docstrings are judged by place, form, style and parameters, not by wording.
 */
export const Sample = z.array(
  z.strictObject({
    id: z.string(),
    package: z.string(),
    agent: z.enum(['lint', 'docstring']),
    file: z.string(),
    diff: z.array(z.string()),
    verdict: z.string(),
  }),
)
export type Sample = z.infer<typeof Sample>

export type Verdicts = { accepted: number; refused: number; open: number }

/**
 * Draws the `size` hunks whose hash with a fixed seed is lowest, so that a change of the product exchanges only the hunks that it
 * changes. A hunk that is in `written`, an earlier sample, keeps its verdict.
 */
export function drawSample(packages: readonly PackageHunks[], written: Sample, size: number): Sample {
  const verdicts = new Map(written.map(({ id, verdict }) => [id, verdict]))
  const ranked = packages
    .flatMap(({ name, hunks }) => hunks.map((hunk) => ({ name, hunk, id: hunkId(name, hunk) })))
    .map((drawn) => ({ ...drawn, rank: createHash('sha256').update(`${seed}\0${drawn.id}`).digest('hex') }))
    .toSorted((left, right) => (left.rank < right.rank ? -1 : 1))
  // A change that occurs twice in one file is shown once.
  const chosen = [...new Map(ranked.map((drawn) => [drawn.id, drawn])).values()].slice(0, size)
  return chosen
    .toSorted((left, right) => (placeOf(left) < placeOf(right) ? -1 : 1))
    .map(({ name, hunk: { agent, file, diff }, id }) => {
      return { id, package: name, agent, file, diff: diff.split('\n'), verdict: verdicts.get(id) ?? '' }
    })
}

function placeOf({ name, hunk }: { name: string; hunk: Hunk }): string {
  return [name, hunk.file, String(hunk.line).padStart(7, '0')].join('\0')
}

/** How many hunks of a sample have which verdict. */
export function countVerdicts(sample: Sample): Verdicts {
  const of = (word: string) => sample.filter(({ verdict }) => verdict.startsWith(word)).length
  const [accepted, refused] = [of('accept'), of('refuse')]
  return { accepted, refused, open: sample.length - accepted - refused }
}

/** A run of changed lines of a patch that unchanged lines enclose, with up to three of those on either side. */
export type Hunk = { agent: 'lint' | 'docstring'; file: string; line: number; diff: string }

type Change = { line: number; lastLine: number; adds: boolean; diff: string }

const contextLines = 3

/**
 * Cuts a patch into its smallest hunks. The agent is known by what is there afterwards: lines of a docstring that a
 * definition did not have before are of `docstring`, everything else of `lint`.
 */
export function readHunks(patch: string, sides: BothSides): Hunk[] {
  return parsePatch(patch).flatMap((file) => {
    const path = (file.newFileName ?? file.oldFileName ?? '').replace(/^[ab]\//, '')
    const spans = newDocstrings(sides.before.get(path), sides.after.get(path))
    return file.hunks.flatMap(cutHunk).map(({ line, lastLine, adds, diff }): Hunk => {
      const isDocstring = adds && spans.some(([first, last]) => first <= lastLine && line <= last)
      return { agent: isDocstring ? 'docstring' : 'lint', file: path, line, diff }
    })
  })
}

/** An id of a hunk, made of its text alone, so that moved lines or other hunks do not change it. */
function hunkId(packageName: string, { agent, file, diff }: Hunk): string {
  return createHash('sha256').update([packageName, agent, file, diff].join('\0')).digest('hex').slice(0, 12)
}

function newDocstrings(before: SourceFacts | undefined, after: SourceFacts | undefined): [number, number][] {
  const had = new Map<string, number>()
  for (const { name, docstring } of before?.definitions ?? [])
    if (docstring !== null) had.set(name, (had.get(name) ?? 0) + 1)
  return (after?.definitions ?? []).flatMap(({ name, docstring }) => {
    if (docstring === null) return []
    const left = had.get(name) ?? 0
    had.set(name, left - 1)
    return left > 0 ? [] : [docstring]
  })
}

function cutHunk({ lines, newStart }: StructuredPatchHunk): Change[] {
  const changes: Change[] = []
  let line = newStart
  for (let at = 0; at < lines.length; at++) {
    if (!isChange(lines[at])) {
      if (lines[at]?.startsWith(' ')) line++
      continue
    }
    let end = at
    while (end < lines.length && !lines[end]?.startsWith(' ')) end++
    const added = lines.slice(at, end).filter((one) => one.startsWith('+')).length
    const shown = lines.slice(Math.max(0, at - contextLines), Math.min(lines.length, end + contextLines))
    changes.push({ line, lastLine: line + Math.max(0, added - 1), adds: added > 0, diff: shown.join('\n') })
    line += added
    at = end - 1
  }
  return changes
}

function isChange(line: string | undefined): boolean {
  return line !== undefined && /^[+-]/.test(line)
}
