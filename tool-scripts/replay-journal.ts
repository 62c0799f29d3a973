import { isDeepStrictEqual } from 'node:util'
import type { JournalEntry } from '#domain/external-journal.ts'

export type ExternalAnswer = { value: unknown } | { type: string; message: string }

/** Says how a run differs from the run that wrote the journal. */
export class JournalDiverged extends Error {}

export type JournalReplay = ReturnType<typeof replayJournal>

export function replayJournal(entries: readonly JournalEntry[]) {
  let next = 0
  return {
    /** Returns undefined after the end of the journal; throws JournalDiverged for a call that differs from the journal's. */
    answer(name: string, args: readonly unknown[]): ExternalAnswer | undefined {
      const entry = entries[next]
      if (entry === undefined) return undefined
      next += 1
      if (entry.name === name && isDeepStrictEqual(entry.args, args)) {
        return 'error' in entry ? entry.error : { value: entry.answer }
      }
      const call = entry.name === name ? `calls ${name} with other arguments` : `calls ${name}, not ${entry.name},`
      throw new JournalDiverged(`the script ${call} than before, in its external call ${next}`)
    },
    missing(): JournalDiverged | undefined {
      const entry = entries[next]
      return entry && new JournalDiverged(`the script ended before its external call ${next + 1}, to ${entry.name}`)
    },
  }
}
