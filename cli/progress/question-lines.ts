import { onOneLine } from '../visible.ts'
import type { OpenQuestion, ProgressState } from './progress-state.ts'

type Asking = Pick<ProgressState, 'runId' | 'questions'>

const shownQuestions = 3

/** What is asked, and how it is answered: for the live picture. */
export function questionLines({ runId, questions }: Asking): string[] {
  const shown = questions.slice(0, shownQuestions)
  const [first] = shown
  if (first === undefined) return []
  const rest = questions.length > shown.length ? [`  … and ${questions.length - shown.length} more`] : []
  return [...shown.map(questionText), ...rest, `  answer with: ${answerCommand(runId, first.requestId)}`]
}

/** Each question once, when it is asked: for a pipe. */
export function openNewQuestions(): (state: Asking) => string[] {
  const told = new Set<string>()
  return ({ runId, questions }) => {
    const fresh = questions.filter(({ requestId }) => !told.has(requestId))
    for (const { requestId } of fresh) told.add(requestId)
    return fresh.map((question) => `${questionText(question)}\n  ${answerCommand(runId, question.requestId)}`)
  }
}

export function questionText({ requestId, work, text, choices }: Omit<OpenQuestion, 'operationId'>): string {
  const among = choices.length === 0 ? '' : ` (${choices.join(' | ')})`
  return `${requestId}  ${work} asks: ${onOneLine(text)}${among}`
}

export function answerCommand(runId: string, requestId: string): string {
  return `remora answer ${runId} ${requestId} TEXT`
}
