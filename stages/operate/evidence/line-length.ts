import type { TextStyle } from '#domain/path-rules.ts'
import type { ChangedRun } from '#platform/changed-ranges.ts'
import type { ComparedFacts, CheckResult, PythonFacts } from './python-facts.ts'

type Limits = Pick<TextStyle, 'lineLength' | 'docLength'>
type Lines = Pick<PythonFacts, 'lines' | 'docstringRows'>
type ComparedLines = Pick<ComparedFacts, 'lineRuns'> & { before: Lines; after: Lines }

/** Finds a line that is longer than the repository allows and than any that it replaces. Docstrings and comments may have a limit of their own. */
export function lineLengthKept({ before, after, lineRuns }: ComparedLines, limits: Limits): CheckResult {
  const runs = lineRuns()
  const [was, now] = [
    excessOf(
      before,
      runs.map((run) => run.before),
      limits,
    ),
    excessOf(
      after,
      runs.map((run) => run.after),
      limits,
    ),
  ]
  const figures = { before: was.flat().length, after: now.flat().length }
  for (const [at, longNow] of now.entries()) {
    const lengths = (was[at] ?? []).map(({ length }) => length).toSorted((left, right) => right - left)
    // The longest first: each long line before the change allows one after it.
    for (const { row, length, limit } of longNow.toSorted((one, other) => other.length - one.length)) {
      if ((lengths.shift() ?? 0) >= length) continue
      return { ...figures, fault: `line ${row + 1}: it has ${length} characters, ${limit} are allowed` }
    }
  }
  return { ...figures, fault: undefined }
}

type LongLine = { row: number; length: number; limit: number }

/** Lists the lines of each range that are too long. */
function excessOf(facts: Lines, ranges: readonly ChangedRun['before'][], limits: Limits): LongLine[][] {
  const lines = facts.lines()
  return ranges.map(({ start, end }) =>
    lines.slice(start, end).flatMap((line, at) => longLine(line, start + at, facts, limits) ?? []),
  )
}

function longLine(line: string, row: number, facts: Lines, { lineLength, docLength }: Limits): LongLine | undefined {
  const least = Math.min(lineLength, docLength ?? lineLength)
  if (line.length <= least) return undefined
  const length = Array.from(line).length // characters, as linters count them, not UTF-16 units
  const isComment = /^\s*#/.test(line)
  const limit = docLength !== undefined && (isComment || facts.docstringRows().has(row)) ? least : lineLength
  return length > limit && !isOneWord(line, () => facts.docstringRows().has(row)) ? { row, length, limit } : undefined
}

/** Is true for a long word, such as a URL, alone in a line of a docstring or after a comment's mark, as in pycodestyle. */
function isOneWord(line: string, isInDocstring: () => boolean): boolean {
  const words = line.trim().split(/\s+/)
  if (words.length === 2) return words[0] === '#' || (/^(?:\*|\/\/+)$/.test(words[0] ?? '') && isInDocstring())
  return words.length === 1 && (line.trimStart().startsWith('#') || isInDocstring())
}
