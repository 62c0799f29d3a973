import { describe, expect, it } from 'vitest'
import { runAgent } from './run-agent.ts'
import { call, never, scriptedAgent, submitting, type ScriptedReply } from './scripted-agent.fixture.ts'

const told = (replies: ScriptedReply[], toolChoice: 'required' | 'auto' = 'required') => {
  const { agent, ...rest } = scriptedAgent(replies, { toolChoice })
  const corrections = () =>
    rest.transcript.messages.slice(2).flatMap((message) => (message.role === 'user' ? [message.content] : []))
  return { ...rest, corrections, ending: runAgent(agent, never) }
}

const written = JSON.stringify({ status: 'success', summary: 'done' })

describe('a reply without a whole call', () => {
  it.each([
    ['nothing but text', 'AGENT_003', { content: 'I am done!' }, 'You answered without a tool call.'],
    ['nothing at all', 'AGENT_003', {}, 'You answered without a tool call.'],
    ['a call that is not whole', 'AGENT_009', { content: '<tool_call>{"na', callFault: 'no end tag' }, 'no end tag'],
    ['text the limit cut', 'AGENT_007', { content: 'Let me think', finishReason: 'length' }, 'cut at 100 tokens'],
    [
      'a call the limit cut',
      'AGENT_007',
      { toolCalls: [{ id: 'c1', name: 'read_file', arguments: '{"path": "a' }], finishReason: 'length' },
      'cut at 100 tokens',
    ],
    [
      'a call whose arguments had not begun',
      'AGENT_007',
      { toolCalls: [{ id: 'c1', name: 'read_file', arguments: '' }], finishReason: 'length' },
      'cut at 100 tokens',
    ],
  ])('is corrected once: %s, then %s', async (_what, code, reply, words) => {
    const again = told([reply])
    expect(await again.ending).toMatchObject({ kind: 'stopped', phase: 'model', code })
    expect(again.requests).toHaveLength(2)
    expect(again.corrections()).toEqual([expect.stringContaining(words)])
    expect(again.ran).toEqual([])

    const better = told([reply, [submitting()]])
    expect(await better.ending).toMatchObject({ kind: 'submitted' })
  })

  it('ends with the code of the last one', async () => {
    const { ending } = told(['I am done!', { callFault: 'no end tag' }])
    expect(await ending).toMatchObject({ code: 'AGENT_009' })
  })
})

describe('a reply that was cut behind a whole call', () => {
  it('is run as far as it is whole', async () => {
    const cut = { id: 'c2', name: 'read_file', arguments: '{"path": "b' }
    const reply = { toolCalls: [call('read_file', { path: 'a' }), cut], finishReason: 'length' }
    const { ending, ran, transcript } = told([reply, [submitting()]])
    expect(await ending).toMatchObject({ kind: 'submitted' })
    expect(ran).toEqual(['a'])
    expect(transcript.toolRuns.map(({ result }) => result.errorCode)).toEqual([undefined])
    const answers = transcript.messages.filter((message) => message.role === 'assistant')
    expect(answers[0]?.toolCalls.map(({ id }) => id)).toEqual(['c1'])
  })
})

describe('a submission written as content', () => {
  it('counts where a call is not required, flagged, and stands in the history as a call', async () => {
    const { ending, received, transcript } = told([` ${written}\n`], 'auto')
    expect(await ending).toMatchObject({ kind: 'submitted', submission: { status: 'success', summary: 'done' } })
    expect(received()).toMatchObject([{ data: { parsed_from_content: true } }])
    expect(transcript.messages.at(-2)).toMatchObject({
      content: null,
      toolCalls: [{ id: 'call00001', name: 'submit_result', parsedFromContent: true }],
    })
  })

  it.each([
    ['where a call is required', written, 'required'],
    ['with words around it', `Here it is: ${written}`, 'auto'],
    ['of another shape', '{"status": "success"}', 'auto'],
    ['in plain words', 'success', 'auto'],
  ] as const)('does not count %s', async (_where, content, toolChoice) => {
    const { ending } = told([content], toolChoice)
    expect(await ending).toMatchObject({ kind: 'stopped', code: 'AGENT_003' })
  })
})
