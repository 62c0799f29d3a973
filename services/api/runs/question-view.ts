import type { Question } from '#domain/question.ts'
import { isoTime } from './iso-time.ts'
import type { QuestionView } from './question-schema.ts'

export function questionView(question: Question): QuestionView {
  const { answer } = question
  return {
    request_id: question.requestId,
    operation_id: question.operationId,
    node_id: question.nodeId,
    agent: question.bundle,
    path: question.path,
    qualified_name: question.qualifiedName,
    question: question.text,
    choices: question.choices,
    status: question.status,
    asked_at: isoTime(question.askedAt),
    expires_at: isoTime(question.expiresAt),
    answer: answer?.text ?? null,
    answered_at: isoTime(answer?.at ?? null),
    answered_by: answer?.by ?? null,
  }
}
