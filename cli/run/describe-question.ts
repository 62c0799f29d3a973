import type { QuestionView } from '../api-views.ts'
import { nodePlace } from '../node-place.ts'
import { answerCommand, questionText } from '../progress/question-lines.ts'

/** The question, how it stands, and for an open one the command that answers it. */
export function describeQuestion(runId: string, question: QuestionView): string {
  const { request_id: requestId, agent, path, qualified_name: name, status } = question
  const work = `${agent} ${nodePlace(path, name)}`
  const asked = questionText({ requestId, work, text: question.question, choices: question.choices ?? [] })
  if (status === 'answered') return `${asked}\n  answered: ${question.answer ?? ''}`
  if (status !== 'open') return `${asked}\n  ${status}`
  if (Date.parse(question.expires_at ?? '') < Date.now()) return `${asked}\n  expired at ${question.expires_at ?? ''}`
  return `${asked}\n  open until ${question.expires_at ?? ''}: ${answerCommand(runId, requestId)}`
}
