import { isRecord, parseJson } from '#domain/json.ts'
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
  return [...shown.map(questionText), ...rest, `  answer with: ${answerCommand(runId, first)}`]
}

export function openNewQuestions(): (state: Asking) => string[] {
  const printed = new Set<string>()
  return ({ runId, questions }) => {
    const fresh = questions.filter(({ requestId }) => !printed.has(requestId))
    for (const { requestId } of fresh) printed.add(requestId)
    return fresh.map((question) => `${questionText(question)}\n  ${answerCommand(runId, question)}`)
  }
}

function questionText({ requestId, work, text, choices, call }: Omit<OpenQuestion, 'operationId'>): string {
  const among = choices.length === 0 ? '' : ` (${choices.join(' | ')})`
  const asks =
    call === undefined ? `asks: ${onOneLine(text)}${among}` : `asks to call ${call.tool} with ${call.arguments}`
  return `${requestId}  ${work} ${asks}`
}

function answerCommand(runId: string, { requestId, call }: Pick<OpenQuestion, 'requestId' | 'call'>): string {
  return `remora answer ${runId} ${requestId} ${call === undefined ? 'TEXT' : '--allow | --allow-for-run | --deny [TEXT]'}`
}

export function describeQuestion(runId: string, question: QuestionView): string {
  const { request_id: requestId, agent, path, qualified_name: name, status, expires_at: expiresAt } = question
  const work = path === null ? agent : `${agent} ${nodePlace(path, name ?? '')}`
  const call = question.kind === 'approval' ? question.call : undefined
  const choices = question.kind === 'text' ? (question.choices ?? []) : []
  const head =
    call === undefined
      ? questionText({ requestId, work, text: question.question, choices })
      : [`${requestId}  ${work} asks to call ${call.tool} with`, ...argumentLines(call.arguments)].join('\n')
  if (status === 'answered') return `${head}\n  answered: ${answerText(question.answer)}`
  if (status !== 'open') return `${head}\n  ${status}`
  if (expiresAt !== null && Date.parse(expiresAt) < Date.now()) return `${head}\n  expired at ${expiresAt}`
  const until = expiresAt ?? 'the run ends, which does not wait for it'
  return `${head}\n  open until ${until}: ${answerCommand(runId, { requestId, call })}`
}

function answerText(answer: QuestionView['answer']): string {
  if (answer === null || typeof answer === 'string') return answer ?? ''
  const { verdict, reason } = answer
  return reason === undefined ? verdict : `${verdict}: ${reason}`
}

/** A line for each argument. The lines of a text are set off, so that none of them looks like an argument. */
function argumentLines(text: string): string[] {
  const given = parseJson(text)
  if (!isRecord(given)) return [`    ${text}`]
  return Object.entries(given).flatMap(([name, value]) =>
    typeof value === 'string' && value.includes('\n')
      ? [`    ${name}:`, ...value.split('\n').map((line) => `      | ${line}`)]
      : [`    ${name}: ${JSON.stringify(value)}`],
  )
}
