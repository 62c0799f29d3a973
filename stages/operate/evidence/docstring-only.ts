import { docstringTrap } from '#languages/python/docstring-traps.ts'
import { addedCharacter } from '#languages/syntax/hidden-characters.ts'
import type { CheckResult, ComparedFacts } from './python-facts.ts'

/** Allows other docstrings and comments in which nothing is run. A `pass` or `...` may go that a docstring makes needless; `says` tells so. */
export function docstringOnly({ before, after, lineRuns, isSameCode }: ComparedFacts): CheckResult {
  if (!isSameCode()) return { fault: 'the code changes' }
  const trap = addedCharacter(before.text, after.text) ?? docstringTrap(after.text, before.text)
  if (trap !== undefined) return { fault: trap }
  const changedLines = lineRuns().flatMap((run) => [
    ...before.lines().slice(run.before.start, run.before.end),
    ...after.lines().slice(run.after.start, run.after.end),
  ])
  if (!changedLines.some((line) => /\bpass\b|\.\.\./.test(line))) return { fault: undefined }
  const left = after.loneFillers()
  const changed = before.loneFillers().flatMap((was, at) => (was === left[at] ? [] : [{ was, is: left[at] }]))
  const gone = changed.flatMap(({ was, is }) => (was !== undefined && is === undefined ? [`\`${was}\``] : []))
  if (gone.length < changed.length) return { fault: 'the `pass` or `...` of a body is another' }
  const words = gone.length === 1 ? 'a docstring makes' : 'docstrings make'
  const went = `${gone.length} ${[...new Set(gone)].join(' and ')} went that ${words} needless`
  return { fault: undefined, says: gone.length === 0 ? undefined : went }
}
