import { figure } from '#domain/figure.ts'
import { plural, formatSeconds } from '#domain/timeline/words.ts'
import type { TranscriptEntry } from '#schemas/transcript-schema.ts'
import { prettyJson, shownValue } from '../../core/transcript-turns.ts'
import { LongText } from './long-text.tsx'

type EntryOf<Kind extends TranscriptEntry['kind']> = Extract<TranscriptEntry, { kind: Kind }>

/** Shows one entry of a conversation: a message, a reply, the answer of a tool, or a question. */
export function EntryView({ entry }: { entry: TranscriptEntry }) {
  switch (entry.kind) {
    case 'message':
      return <Message entry={entry} />
    case 'model':
      return <Reply entry={entry} />
    case 'tool':
      return <ToolAnswer entry={entry} />
    case 'question':
      return <Question entry={entry} />
  }
}

function Message({ entry: { role, content, characters } }: { entry: EntryOf<'message'> }) {
  if (content === null)
    return <p class="quiet">A message of {plural(characters, 'character')}, which the service does not keep</p>
  if (role === 'user') return <LongText text={content} />
  return (
    <details>
      <summary>System prompt, {plural(characters, 'character')}</summary>
      <pre>{content}</pre>
    </details>
  )
}

function Reply({ entry: { exchange, reply } }: { entry: EntryOf<'model'> }) {
  return (
    <div class="said-by">
      {exchange !== null && <Exchange exchange={exchange} />}
      {reply !== null && reply.content !== null && reply.content !== '' && <LongText text={reply.content} />}
      {reply?.tool_calls.map((call) => (
        <div key={call.id} class="call">
          <p>
            <span class="quiet">calls</span> <b class="mono">{call.name}</b>
            {call.by_code === true && <span class="quiet"> by the loop, not the model</span>}
            {call.parsed_from_content === true && <span class="warn"> found in the text of the reply</span>}
          </p>
          {call.arguments !== '{}' && <LongText text={prettyJson(call.arguments)} />}
        </div>
      ))}
    </div>
  )
}

function Exchange({ exchange }: { exchange: NonNullable<EntryOf<'model'>['exchange']> }) {
  const {
    model,
    duration_ms: ms,
    queue_ms: queued = 0,
    tokens,
    tries = 1,
    error,
    failed_tries: failed = [],
    left_out: leftOut,
  } = exchange
  const facts = [
    model,
    formatSeconds(ms),
    queued > 100 ? `${formatSeconds(queued)} of it waiting` : '',
    tokens === undefined ? '' : `${figure(tokens.prompt)} → ${figure(tokens.completion)} tokens`,
    tries > 1 ? `sent ${tries} times` : '',
    leftOut > 0 ? `${plural(leftOut, 'earlier message')} left out` : '',
  ]
  return (
    <>
      <p class="quiet small">{facts.filter(Boolean).join(' · ')}</p>
      {failed.map((one, at) => (
        <p key={at} class="warn small">
          {one.error_code} {one.message} ({one.endpoint}, {formatSeconds(one.duration_ms)})
        </p>
      ))}
      {error !== undefined && (
        <p class="bad">
          {error.error_code} {error.message}
        </p>
      )}
    </>
  )
}

const outcomeTones = { success: 'good', partial: 'warn', error: 'bad' } as const

function ToolAnswer({ entry: { name, content, run } }: { entry: EntryOf<'tool'> }) {
  return (
    <div class="tool">
      <p>
        <b class="mono">{name}</b> <span class="quiet">answers</span>
        {run !== null && (
          <>
            {' '}
            <span class={outcomeTones[run.outcome]}>{run.outcome}</span>{' '}
            <span class="quiet small">{formatSeconds(run.duration_ms)}</span>
          </>
        )}
      </p>
      {run?.error !== undefined && (
        <p class="bad">
          {run.error_code} {shownValue(run.error)}
        </p>
      )}
      <LongText text={prettyJson(content)} />
      {run !== null && <ToolRun run={run} />}
    </div>
  )
}

/** Shows what the model did not see: the whole result, what the script asked the host, and what it printed. */
function ToolRun({ run }: { run: NonNullable<EntryOf<'tool'>['run']> }) {
  const { result, host_calls: calls, printed } = run
  return (
    <>
      {result !== undefined && result !== null && (
        <details>
          <summary>Whole result</summary>
          <LongText text={shownValue(result)} />
        </details>
      )}
      <HostCalls calls={calls} />
      {printed !== undefined && printed !== '' && (
        <details>
          <summary>Printed</summary>
          <LongText text={printed} />
        </details>
      )}
    </>
  )
}

function HostCalls({ calls }: { calls: EntryOf<'question'>['host_calls'] }) {
  if (calls.length === 0) return null
  return (
    <details>
      <summary>{plural(calls.length, 'call')} of its script to the host</summary>
      {calls.map((call, at) => (
        <div key={at} class="call">
          <p class={call.error === undefined ? 'mono' : 'mono bad'}>
            {call.name}
            {call.error !== undefined && `: ${call.error.message}`}
          </p>
          <LongText
            text={`${shownValue(call.args)}${call.answer === undefined ? '' : `\n→ ${shownValue(call.answer)}`}`}
          />
        </div>
      ))}
    </details>
  )
}

function Question({ entry: { question, choices, host_calls: calls } }: { entry: EntryOf<'question'> }) {
  return (
    <div class="notice asks">
      <p>
        <b>It asks:</b> {question}
        {choices !== null && <span> ({choices.join(' / ')})</span>}
      </p>
      <HostCalls calls={calls} />
    </div>
  )
}
