import type { QuestionView } from '#schemas/question-schema.ts'
import { nodePlace } from '#domain/timeline/words.ts'
import { onOneLine } from '../terminal-text.ts'
import type { OpenQuestion, ProgressState } from './progress-state.ts'

type Asking = Pick<ProgressState, 'runId' | 'questions'>

const shownQuestions = 3

export function questionLines({ runId, questions }: Asking): string[] {
  const shown = questions.slice(0, shownQuestions)
  const [first] = shown
  if (first === undefined) return []
  const rest = questions.length > shown.length ? [`  … and ${questions.length - shown.length} more`] : []
  return [...shown.map(questionText), ...rest, `  answer with: ${answerCommand(runId, first.requestId)}`]
}

export function openNewQuestions(): (state: Asking) => string[] {
  const printed = new Set<string>()
  return ({ runId, questions }) => {
    const fresh = questions.filter(({ requestId }) => !printed.has(requestId))
    for (const { requestId } of fresh) printed.add(requestId)
    return fresh.map((question) => `${questionText(question)}\n  ${answerCommand(runId, question.requestId)}`)
  }
}

function questionText({ requestId, work, text, choices }: Omit<OpenQuestion, 'operationId'>): string {
  const among = choices.length === 0 ? '' : ` (${choices.join(' | ')})`
  return `${requestId}  ${work} asks: ${onOneLine(text)}${among}`
}

function answerCommand(runId: string, requestId: string): string {
  return `remora answer ${runId} ${requestId} TEXT`
}

export function describeQuestion(runId: string, question: QuestionView): string {
  const { request_id: requestId, agent, path, qualified_name: name, status } = question
  const work = `${agent} ${nodePlace(path, name)}`
  const head = questionText({ requestId, work, text: question.question, choices: question.choices ?? [] })
  if (status === 'answered') return `${head}\n  answered: ${question.answer ?? ''}`
  if (status !== 'open') return `${head}\n  ${status}`
  if (Date.parse(question.expires_at ?? '') < Date.now()) return `${head}\n  expired at ${question.expires_at ?? ''}`
  return `${head}\n  open until ${question.expires_at ?? ''}: ${answerCommand(runId, requestId)}`
}
