import { availableParallelism } from 'node:os'
import { openLastingThread, type LastingThread } from '#platform/lasting-thread.ts'
import { openThreadLink } from '#platform/thread-link.ts'
import type { SurveyedFile, SurveyQuestion } from './surveyed-file.ts'

export type SurveyPool = {
  threads: number
  /** What the file holds, or why it cannot be looked at: nested too deep, or too slow. The next file is unharmed. */
  survey(question: SurveyQuestion): Promise<SurveyedFile | { unreadable: string }>
  /** Ends the threads; what is under way fails. Safe to call twice. */
  close(): Promise<void>
}

type SurveyThread = LastingThread<SurveyQuestion, SurveyedFile>

/** Threads that lint and read Python files, started when first needed. `threads: 0` means one per core. */
export function openSurveyPool(options: { threads: number; fileLimitMs?: number }): SurveyPool {
  const threads = options.threads === 0 ? availableParallelism() : options.threads
  const entry = new URL('./survey-thread.ts', import.meta.url)
  const limitMs = options.fileLimitMs ?? 10_000
  const open = () => openThreadLink<SurveyQuestion, SurveyedFile>({ entry, name: 'the linter', limitMs })
  const all = Array.from({ length: threads }, () => ({
    thread: openLastingThread(open, 'the survey') satisfies SurveyThread,
    pending: 0,
  }))

  return {
    threads,
    async survey(question) {
      const free = all.toSorted((one, other) => one.pending - other.pending)[0]
      if (free === undefined) throw new RangeError('a survey pool has at least one thread')
      free.pending++
      try {
        const answer = await free.thread.ask(question)
        return answer.kind === 'report' ? answer.report : { unreadable: answer.why }
      } finally {
        free.pending--
      }
    },
    close: async () => void (await Promise.all(all.map(({ thread }) => thread.close()))),
  }
}
