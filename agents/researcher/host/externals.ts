import type { JournalEntry } from '#domain/external-journal.ts'
import { Learning, maxInsightCharacters, maxLearnings, reportedLearnings } from '#domain/learning.ts'
import { type ExternalFunction, ScriptError } from '#tool-scripts/script-call.ts'

const keyOf = ({ insight }: Learning) => insight.toLowerCase().replaceAll(/\s+/g, ' ')

/** Makes `report_learning`: the same insight counts once. `before`: what earlier attempts that this one continues have called. */
export function reportLearning(before: readonly JournalEntry[]): ExternalFunction {
  const known = new Set(reportedLearnings(before).map(keyOf))
  return async ([insight, confidence]) => {
    const learning = Learning.safeParse({ insight, confidence })
    const form = `insight must have 1 to ${maxInsightCharacters} characters, and confidence be a number from 0 to 1`
    if (!learning.success) throw new ScriptError('ValueError', form)
    const key = keyOf(learning.data)
    if (known.has(key)) return { reported: false, reason: 'it was reported before' }
    if (known.size >= maxLearnings)
      throw new ScriptError('ValueError', `at most ${maxLearnings} learnings may be reported`)
    known.add(key)
    return { reported: true, learning: learning.data }
  }
}
