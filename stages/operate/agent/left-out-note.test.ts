import { draws, fc } from '#testing/fast-check.ts'
import { describe, expect, it } from 'vitest'
import type { Tool } from '../tools/tool-set.ts'
import { refused } from '../tools/tool-set.ts'
import { leftOutNote } from './left-out-note.ts'
import { runAgent } from './run-agent.ts'
import { call, done, never, pathTool, scriptedAgent, submitting, type ScriptedReply } from './scripted-agent.fixture.ts'
import { firstMessages, openTranscript } from './open-transcript.ts'

/** Counts how often each path was looked at; the path `gone` does not exist. */
function lookTool(): Tool {
  const seen = new Map<string, number>()
  return pathTool('look', 'reads', async ({ path }) => {
    const name = String(path)
    if (name === 'gone') return refused('TOOL_007', 'there is no file gone')
    seen.set(name, (seen.get(name) ?? 0) + 1)
    const knowledgeDelta = { [`looks at ${name}`]: seen.get(name) }
    return { ...done, result: { ...done.result, summary: `saw ${name}`, knowledgeDelta } }
  })
}

const look = (path: string) => call('look', { path })
const early: ScriptedReply[] = [
  [look('a'), look('b')],
  'Let me think.',
  [submitting('odd')],
  [look('a')],
  [submitting()],
  [look('gone')],
]

/** An attempt whose first submission of success is not verified, with room for six messages in a request. */
function played(replies: ScriptedReply[]) {
  const all = scriptedAgent(replies, { maxMessages: 6, maxTurns: 20 }, [lookTool()])
  let verified = 0
  all.agent.verify = async () =>
    verified++ === 0 ? { kind: 'fails', code: 'WORK_005', reason: 'lint for a.py' } : { kind: 'holds' }
  return all
}

describe('the note in place of messages that are left out', () => {
  it('says what was done in them, what is known, and what failed last', async () => {
    const { agent, requests } = played([...early, [look('c')], [submitting()]])
    expect(await runAgent(agent, never)).toMatchObject({ kind: 'submitted' })
    expect(requests.at(-1)?.messages[1]?.content).toMatchInlineSnapshot(`
      "user

      (11 messages that followed are left out here.)

      ## Last error
      look failed (TOOL_007): there is no file gone

      ## What you did so far
      - look {"path":"a"} → success: saw a
      - look {"path":"b"} → success: saw b
      - reply → no call: You answered without a tool call. Call one of the tools; when the work is finished, call submit_result.
      - submit_result → refused (AGENT_005): status: Invalid option: expected one of "success"|"failed"|"skipped" (got "odd")
      - look {"path":"a"} → success: saw a
      - submit_result → unverified: lint for a.py

      ## What is known
      - looks at b: 1
      - looks at a: 2"
    `)
  })

  it('is the same in an attempt that goes on from the record of another', async () => {
    const { agent, transcript } = played([...early, [submitting()]])
    await runAgent(agent, never)
    const leftOut = transcript.messages.slice(2, 8)
    const { messages, toolRuns } = transcript
    const later = openTranscript(structuredClone({ messages, tools: toolRuns }))
    expect(leftOutNote(later, later.messages.slice(2, 8))).toBe(leftOutNote(transcript, leftOut))
  })

  it('stays short whatever the messages say', () => {
    const part = fc.string({ maxLength: 30, unit: 'binary' })
    const text = fc.tuple(part, fc.nat({ max: 30 })).map(([once, times]) => once.repeat(times))
    const turn = fc.record({ name: text, args: text, summary: text, key: text, value: text })
    const property = fc.property(fc.array(turn, { minLength: 10, maxLength: 40 }), (turns) => {
      const transcript = openTranscript({ messages: firstMessages('system', 'user') })
      for (const [at, { name, args, summary, key, value }] of turns.entries()) {
        const asked = call(name, args)
        const result = { outcome: 'error' as const, result: null, summary, knowledgeDelta: { [key]: value } }
        transcript.addReply({ model: 'm', content: null, toolCalls: [asked], raw: {} })
        transcript.addToolResult({ turn: at + 1, call: asked, result, externals: [], durationMs: 0 })
      }
      expect(leftOutNote(transcript, transcript.messages.slice(2)).length).toBeLessThanOrEqual(2_100)
    })
    fc.assert(property, { numRuns: draws(10) })
  })
})

describe("a tool's answer", () => {
  it('shows the model what the tool has learned, before a result that may be cut', async () => {
    const { agent, transcript } = scriptedAgent([[look('a')], [submitting()]], {}, [lookTool()])
    await runAgent(agent, never)
    expect(transcript.messages[3]).toMatchObject({
      content: '{"outcome":"success","summary":"saw a","knowledge":{"looks at a":1},"result":1}',
    })
  })
})
