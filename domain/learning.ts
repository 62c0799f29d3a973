import { z } from 'zod'
import type { JournalEntry } from './external-journal.ts'

export const maxLearnings = 5
export const maxInsightCharacters = 1_000

/** Is what an agent has learned that may change what is done next. `confidence`: 0 to 1, as the agent says it. */
export const Learning = z.strictObject({
  insight: z.string().trim().min(1).max(maxInsightCharacters),
  confidence: z.number().min(0).max(1),
})
export type Learning = z.infer<typeof Learning>

/** The external `report_learning` answers this for one that it takes. */
const LearningAnswer = z.object({ learning: Learning })

/** Lists the learnings that scripts have reported, from the answers that the external `report_learning` gave them. */
export function reportedLearnings(journal: readonly JournalEntry[]): Learning[] {
  return journal.flatMap((entry) => {
    if (entry.name !== 'report_learning' || !('answer' in entry)) return []
    const answer = LearningAnswer.safeParse(entry.answer)
    return answer.success ? [answer.data.learning] : []
  })
}
