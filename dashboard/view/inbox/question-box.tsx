import { useState } from 'preact/hooks'
import type { ApprovalAnswer, Question } from '#client/wire.ts'
import { prettyJson } from '../../core/transcript-turns.ts'
import { linkTo } from '../../core/route.ts'
import { deciderOf } from '../../core/review-words.ts'
import { LongText } from '../operation/long-text.tsx'
import { At, Since } from '../parts/shown.tsx'
import { useAction } from '../parts/controls.tsx'
import { useMayWrite, usePage } from '../page-context.ts'

type BoxProps = { runId: string; question: Question; onAnswered: () => void }

/** Shows a question with what can be answered; one that is answered or over says so. */
export function QuestionBox({ runId, question, onAnswered }: BoxProps) {
  const { connection } = usePage()
  const mayAnswer = useMayWrite()
  const { run, isBusy, problem } = useAction()
  const answer = (given: string | ApprovalAnswer) =>
    run(async () => {
      const path = `/v1/runs/${runId}/questions/${question.request_id}`
      // Who was later is told so, and sees the answer of the other.
      await connection.json<Question>(path, { method: 'POST', json: { answer: given } }).finally(onAnswered)
    })
  const isOpen = question.status === 'open'
  return (
    <article class="box question" aria-label={`Question ${question.request_id}`}>
      <QuestionHead runId={runId} question={question} />
      <p class="asked">{question.question}</p>
      {question.kind === 'approval' && (
        <div>
          <p>
            <span class="quiet">It wants to call</span> <b class="mono">{question.call.tool}</b>
          </p>
          <LongText text={prettyJson(question.call.arguments)} />
        </div>
      )}
      {problem}
      {!isOpen && <Over question={question} />}
      {isOpen && !mayAnswer && <p class="quiet">Your token may only look.</p>}
      {isOpen && mayAnswer && <AnswerForm question={question} isBusy={isBusy} onAnswer={answer} />}
    </article>
  )
}

function QuestionHead({ runId, question }: Pick<BoxProps, 'runId' | 'question'>) {
  const { request_id: id, agent, path, qualified_name: name, operation_id: operationId, status } = question
  const isOpen = status === 'open'
  const place = path === null ? 'about the run' : name === null || name === path ? path : `${path} ${name}`
  return (
    <div class="row">
      <span class="badge" data-state={isOpen ? 'warn' : undefined}>
        {id} {status}
      </span>
      <b>{agent}</b>
      {operationId === null ? place : <a href={linkTo({ page: 'operation', runId, operationId })}>{place}</a>}
      <span class="quiet small">
        asked {isOpen ? <Since ts={question.asked_at} /> : <At ts={question.asked_at} />}
        {isOpen && ' ago'}
        {isOpen && question.expires_at !== null && ', open until '}
        {isOpen && question.expires_at !== null && <At ts={question.expires_at} />}
      </span>
    </div>
  )
}

function Over({ question }: { question: Question }) {
  const { session } = usePage()
  const { status, answered_at: at, answered_by: by } = question
  if (status === 'expired')
    return <p class="warn">Nobody answered in time: its operation is blocked. A retry of the run asks again.</p>
  if (status !== 'answered') return <p class="quiet">Its operation was stopped before anybody answered.</p>
  const who = by === null ? 'somebody' : deciderOf({ decided_by: by }, session.token_id)
  return (
    <p>
      <span class="good">Answered</span> by {who} {at !== null && <At ts={at} />}: <q>{answerWords(question)}</q>
    </p>
  )
}

const verdicts = { allow: 'allowed', allow_for_run: 'allowed, and all others of the tool in the run', deny: 'denied' }

function answerWords({ answer }: Question): string {
  if (answer === null || typeof answer === 'string') return answer ?? ''
  return answer.reason === undefined ? verdicts[answer.verdict] : `${verdicts[answer.verdict]}: ${answer.reason}`
}

type AnswerProps<Answer> = { isBusy: boolean; onAnswer: (answer: Answer) => void }

function AnswerForm({ question, ...props }: AnswerProps<string | ApprovalAnswer> & { question: Question }) {
  if (question.kind === 'approval') return <Approval {...props} />
  if (question.choices === null) return <TextAnswer {...props} />
  return (
    <div class="row">
      {question.choices.map((choice) => (
        <button key={choice} disabled={props.isBusy} onClick={() => props.onAnswer(choice)}>
          {choice}
        </button>
      ))}
    </div>
  )
}

function TextAnswer({ isBusy, onAnswer }: AnswerProps<string>) {
  const [text, setText] = useState('')
  return (
    <form
      class="stack tight"
      onSubmit={(event) => {
        event.preventDefault()
        if (text.trim() !== '') onAnswer(text)
      }}
    >
      <textarea
        aria-label="Answer"
        rows={2}
        maxLength={16_000}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <div>
        <button class="primary" disabled={isBusy || text.trim() === ''}>
          Answer
        </button>
      </div>
    </form>
  )
}

function Approval({ isBusy, onAnswer }: AnswerProps<ApprovalAnswer>) {
  const [reason, setReason] = useState('')
  const said = reason.trim() === '' ? {} : { reason: reason.trim() }
  return (
    <div class="row">
      <button class="primary" disabled={isBusy} onClick={() => onAnswer({ verdict: 'allow' })}>
        Allow
      </button>
      <button disabled={isBusy} onClick={() => onAnswer({ verdict: 'allow_for_run' })}>
        Allow for the run
      </button>
      <input
        class="grow"
        aria-label="Why not"
        placeholder="Why not, for the agent"
        maxLength={2000}
        value={reason}
        onInput={(event) => setReason(event.currentTarget.value)}
      />
      <button class="danger" disabled={isBusy} onClick={() => onAnswer({ verdict: 'deny', ...said })}>
        Deny
      </button>
    </div>
  )
}
