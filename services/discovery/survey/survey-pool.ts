import { availableParallelism } from 'node:os'
import type { ModuleUses } from '#python/module-uses.ts'
import { openLastingThread, type LastingThread } from '#platform/lasting-thread.ts'
import { openThreadLink } from '#platform/thread-link.ts'
import type { PythonQuestion, SurveyedFile, SurveyQuestion, SurveyReport } from './surveyed-file.ts'

export type SurveyPool = {
  threads: number
  /** What the file holds, or why it cannot be looked at: nested too deep, or too slow. The next file is unharmed. */
  survey(question: PythonQuestion): Promise<SurveyedFile | { unreadable: string }>
  /** What a text that is no Python, or cannot be parsed, uses of modules. */
  usesIn(namingText: string): Promise<ModuleUses | { unreadable: string }>
  /** Ends the threads; what is under way fails. Safe to call twice. */
  close(): Promise<void>
}

type SurveyThread = LastingThread<SurveyQuestion, SurveyReport>

/** Threads that lint and read Python files, started when first needed. `threads: 0` means one per core. */
export function openSurveyPool(options: { threads: number; fileLimitMs?: number }): SurveyPool {
  const threads = options.threads === 0 ? availableParallelism() : options.threads
  const entry = new URL('./survey-thread.ts', import.meta.url)
  const limitMs = options.fileLimitMs ?? 10_000
  const open = () => openThreadLink<SurveyQuestion, SurveyReport>({ entry, name: 'the linter', limitMs })
  const all = Array.from({ length: threads }, () => ({
    thread: openLastingThread(open, 'the survey') satisfies SurveyThread,
    pending: 0,
  }))

  const ask = async (question: SurveyQuestion): Promise<SurveyReport | { unreadable: string }> => {
    const free = all.toSorted((one, other) => one.pending - other.pending)[0]
    if (free === undefined) throw new RangeError('a survey pool has at least one thread')
    free.pending++
    try {
      const answer = await free.thread.ask(question)
      return answer.kind === 'report' ? answer.report : { unreadable: answer.why }
    } finally {
      free.pending--
    }
  }
  return {
    threads,
    async survey(question) {
      const report = await ask(question)
      if ('unreadable' in report || 'faults' in report) return report
      throw new TypeError('the survey answered a Python file as another text')
    },
    async usesIn(namingText) {
      const report = await ask({ namingText })
      return 'unreadable' in report ? report : report.uses
    },
    close: async () => void (await Promise.all(all.map(({ thread }) => thread.close()))),
  }
}
