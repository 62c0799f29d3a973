import type { ApiClient } from '../api-client.ts'
import type { QuestionView } from '../api-views.ts'

const pageSize = 500

/** The questions of a run, by number; only those of a status, if one is given. */
export async function readQuestions(
  client: Pick<ApiClient, 'listQuestions'>,
  runId: string,
  filter: { status?: string } = {},
): Promise<QuestionView[]> {
  const questions: QuestionView[] = []
  for (let cursor: string | undefined; ;) {
    const page = { ...filter, ...(cursor === undefined ? {} : { cursor }), limit: pageSize }
    const answer = await client.listQuestions(runId, page)
    questions.push(...answer.questions)
    if (answer.next === null) return questions
    cursor = answer.next
  }
}
