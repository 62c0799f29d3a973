import type { TextStyle } from '#domain/path-rules.ts'
import type { ComparedFacts, CheckResult, PythonFacts } from './python-facts.ts'

type Limits = Pick<TextStyle, 'lineLength' | 'docLength'>
type Lines = Pick<PythonFacts, 'lines' | 'docstringRows'>
type ComparedLines = Pick<ComparedFacts, 'lineRuns'> & { before: Lines; after: Lines }

/** Finds a line that is longer than the repository allows and than any that it replaces. Docstrings and comments may have a limit of their own. */
export function lineLengthKept({ before, after, lineRuns }: ComparedLines, limits: Limits): CheckResult {
  const [was, now] = [excessOf(before, limits), excessOf(after, limits)]
  const figures = { before: was.size, after: now.size }
  for (const run of lineRuns()) {
    const longBefore = [...was].filter(([row]) => row >= run.before.start && row < run.before.end)
    const lengths = longBefore.map(([, { length }]) => length).toSorted((left, right) => right - left)
    const longNow = [...now].filter(([row]) => row >= run.after.start && row < run.after.end)
    // The longest first: each long line before the change allows one after it.
    for (const [row, { length, limit }] of longNow.toSorted(([, one], [, other]) => other.length - one.length)) {
      if ((lengths.shift() ?? 0) >= length) continue
      return { ...figures, fault: `line ${row + 1}: it has ${length} characters, ${limit} are allowed` }
    }
  }
  return { ...figures, fault: undefined }
}

type Excess = Map<number, { length: number; limit: number }>

function excessOf(facts: Lines, { lineLength, docLength }: Limits): Excess {
  const least = Math.min(lineLength, docLength ?? lineLength)
  const excess: Excess = new Map()
  for (const [row, line] of facts.lines().entries()) {
    if (line.length <= least) continue
    const length = Array.from(line).length // characters, as linters count them, not UTF-16 units
    const isComment = /^\s*#/.test(line)
    const limit = docLength !== undefined && (isComment || facts.docstringRows().has(row)) ? least : lineLength
    if (length > limit && !isOneWord(line, () => facts.docstringRows().has(row))) excess.set(row, { length, limit })
  }
  return excess
}

/** Is true for a long word, such as a URL, alone in a line of a docstring or after a comment's mark, as in pycodestyle. */
function isOneWord(line: string, isInDocstring: () => boolean): boolean {
  const words = line.trim().split(/\s+/)
  if (words.length === 2) return words[0] === '#' || (/^(?:\*|\/\/+)$/.test(words[0] ?? '') && isInDocstring())
  return words.length === 1 && (line.trimStart().startsWith('#') || isInDocstring())
}
