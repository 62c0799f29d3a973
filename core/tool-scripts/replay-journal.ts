import { isDeepStrictEqual } from 'node:util'
import type { JournalEntry } from '#domain/external-journal.ts'

/** What the host says to a script that called it: a value, or an exception by its Python type. */
export type HostAnswer = { value: unknown } | { type: string; message: string }

/** How a run began to differ from the one its journal was kept of. */
export class JournalDiverged extends Error {}

/** Answers the calls of a script from the journal of an earlier run. */
export type JournalReplay = {
  /** Undefined once the journal is used up; throws JournalDiverged for a call that was another then. */
  answer(name: string, args: readonly unknown[]): HostAnswer | undefined
  /** What to say of a script that ended before it made all of its calls. */
  missing(): JournalDiverged | undefined
}

export function replayJournal(entries: readonly JournalEntry[]): JournalReplay {
  let next = 0
  return {
    answer(name, args) {
      const entry = entries[next]
      if (entry === undefined) return undefined
      next += 1
      if (entry.name === name && isDeepStrictEqual(entry.args, args)) {
        return 'error' in entry ? entry.error : { value: entry.answer }
      }
      const asked = entry.name === name ? `calls ${name} with other arguments` : `calls ${name}, not ${entry.name},`
      throw new JournalDiverged(`the script ${asked} than before, in its call ${next} to the host`)
    },
    missing() {
      const entry = entries[next]
      if (entry === undefined) return undefined
      return new JournalDiverged(`the script ended before its call ${next + 1} to the host, of ${entry.name}`)
    },
  }
}
