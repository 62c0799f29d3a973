import { AppError } from '#domain/error.ts'
import type { JournalEntry } from '#domain/external-journal.ts'

/** The length of the JSON of what a script asked of the host: it counts before the host does anything. */
export function askedSize({ name, args }: Pick<JournalEntry, 'name' | 'args'>): number {
  return JSON.stringify({ name, args }).length
}

/** What the host's answer adds to `askedSize`. */
export function answerSize(entry: JournalEntry): number {
  return JSON.stringify('error' in entry ? entry.error : (entry.answer ?? null)).length
}

/** As it was counted while the journal was kept, so that a run over it is at the limit where that one was. */
export function journalSize(journal: readonly JournalEntry[]): number {
  try {
    return journal.reduce((size, entry) => size + askedSize(entry) + answerSize(entry), 0)
  } catch (error) {
    throw new AppError('ASK_004', 'the journal of the earlier run is no JSON', { cause: error })
  }
}
