import type { JournalEntry } from '#domain/external-journal.ts'
import type { AskedQuestion } from '#domain/question.ts'

/**
 * What a host function throws when a person has to answer first: the script ends there and holds no process. Run again
 * over its journal and the answer, it goes on.
 */
export class ScriptSuspended extends Error {
  override readonly name = 'ScriptSuspended'
  readonly question: AskedQuestion

  constructor(question: AskedQuestion) {
    super('the script waits for an answer')
    this.question = question
  }
}

/** What a script that asked is run again over, so that it goes on with the answer. */
export function answeredJournal(
  { journal, asked }: { journal: readonly JournalEntry[]; asked: SuspendedEnding['asked'] },
  answer: string,
): JournalEntry[] {
  return [...journal, { ...asked, answer }]
}

/** Where a script stopped to ask: the call to the host that has no answer yet. */
export type SuspendedEnding = {
  kind: 'suspended'
  question: AskedQuestion
  asked: { name: string; args: unknown[] }
}
