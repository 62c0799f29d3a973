import { createHash } from 'node:crypto'
import { parsePatch, type StructuredPatchHunk } from 'diff'
import type { SourceFacts } from './source-facts.ts'

/** A run of changed lines of a patch that unchanged lines enclose, with up to three of those on either side. */
export type Hunk = { agent: 'lint' | 'docstring'; file: string; line: number; diff: string }

/** What two states of one repository hold, by path. */
export type BothSides = { before: ReadonlyMap<string, SourceFacts>; after: ReadonlyMap<string, SourceFacts> }

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

/** Names a hunk by what a reader sees of it: a line that moves, or a hunk elsewhere, leaves it the same. */
export function hunkId(packageName: string, { agent, file, diff }: Hunk): string {
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
