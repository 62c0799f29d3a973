import { plural } from '#domain/timeline/words.ts'
import { RemoraProblem } from '#client/connection.ts'
import type { DecisionsRequest } from '#client/wire.ts'
import type { DecisionsView, RejectedRetry } from '#schemas/decision-schema.ts'
import type { Notice, ReviewDesk } from './review-desk.ts'
import { type WantedDecision, withAnswer, withoutSending, withSent } from './review-fold.ts'
import { faultWords, nameOfChange } from './review-words.ts'

/** A request takes as many. */
const decisionsAtOnce = 1_000

export type DecideOptions = Pick<DecisionsRequest, 'with_dependents' | 'all_or_none'> & {
  /** Is told how many of them were answered. */
  onProgress?: (answered: number) => void
}

/** Is what a request came to; of one of which nothing was left to decide, too. */
type Answer = Pick<DecisionsView, 'made' | 'decisions' | 'refused' | 'refused_count' | 'retry'>

/** Sends decisions, shows them at once, and then how they were answered. When the service does not answer, nothing more is sent. */
export async function decide(
  desk: ReviewDesk,
  wanted: readonly WantedDecision[],
  { onProgress, ...options }: DecideOptions = {},
): Promise<void> {
  const { sets } = desk
  sets.value = withSent(sets.value, wanted)
  const answers: Answer[] = []
  for (let at = 0; at < wanted.length; at += decisionsAtOnce) {
    const slice = wanted.slice(at, at + decisionsAtOnce)
    try {
      const answer = await send(desk, { decisions: slice, ...options })
      sets.value = withAnswer(sets.value, slice, answer)
      answers.push(answer)
      onProgress?.(at + slice.length)
    } catch (error) {
      sets.value = withoutSending(sets.value, wanted.slice(at))
      desk.notice.value = { text: `Not decided. ${faultWords(error)}`, tone: 'bad' }
      return
    }
  }
  desk.notice.value = noticeOf(answers)
}

/** A request of which everything is refused is answered by a problem, which has the refusals. */
async function send({ connection, runPath }: ReviewDesk, body: DecisionsRequest): Promise<Answer> {
  try {
    return await connection.json<DecisionsView>(`${runPath}/decisions`, { method: 'POST', json: body })
  } catch (error) {
    if (!(error instanceof RemoraProblem) || !isRefused(error.document)) throw error
    return { made: 0, decisions: [], retry: null, ...error.document }
  }
}

type Refused = Pick<DecisionsView, 'refused' | 'refused_count'>

function isRefused(document: object): document is Refused {
  return 'refused' in document && Array.isArray(document.refused) && 'refused_count' in document
}

function noticeOf(answers: readonly Answer[]): Notice {
  const decisions = answers.flatMap((answer) => answer.decisions)
  const refused = answers.reduce((sum, answer) => sum + answer.refused_count, 0)
  const retry = answers.findLast((answer) => answer.retry !== null)?.retry
  const parts = [
    decisions.length > 0 ? decidedText(decisions) : '',
    refused > 0 ? `${plural(refused, 'decision')} refused: the changes say why` : '',
    retry ? retryText(retry) : '',
  ]
  const about = answers.flatMap((answer) => answer.refused)[0]?.change_set_id
  const text = parts.filter((part) => part !== '').join(' · ')
  return { text, tone: refused > 0 ? 'warn' : 'good', ...(about !== undefined && { about }) }
}

const mostNamed = 3
const words = { accepted: 'Accepted', rejected: 'Rejected', pending: 'Pending again:' } as const

/** Names what was decided, and what was decided with it; of many there is a number. */
function decidedText(decisions: DecisionsView['decisions']): string {
  const own = decisions.filter(({ because_of: because }) => because === undefined)
  const [first = decisions[0]] = own
  const word = first === undefined ? '' : words[first.verdict]
  if (own.length !== 1 || decisions.length > mostNamed) return `${word} ${plural(decisions.length, 'change')}`
  const others = decisions.filter((one) => one !== first).map((one) => nameOfChange(one))
  const name = first === undefined ? '' : nameOfChange(first)
  const before = first?.made === true ? '' : ', as before'
  return `${word} ${name}${before}${others.length === 0 ? '' : `, and with it ${others.join(', ')}`}`
}

function retryText({ generation, operations }: RejectedRetry): string {
  const what = plural(operations, 'operation')
  return generation === null
    ? `${what} to be tried again when the run has ended`
    : `${what} tried again: what is made comes here as new changes`
}
