import { describe, expect, it } from 'vitest'
import { runAgent } from './run-agent.ts'
import { call, never, scriptedAgent, submitting, type ScriptedReply } from './scripted-agent.fixture.ts'
import type { Verification } from './submission.ts'

const read = call('read_file', { path: 'a' })
const wrong: Verification = { kind: 'fails', code: 'WORK_004', reason: 'parses failed for a.py' }
const overstated: Verification = { kind: 'overstates', reason: 'names b.py', claimedUnchanged: ['b.py'] }

/** Each verification returns the next one of `found`, and then the last one for ever. */
function submitted(replies: ScriptedReply[], found: Verification[], settings: object = {}) {
  const { agent, ...rest } = scriptedAgent(replies, settings)
  let verified = 0
  agent.verify = async () => found[Math.min(verified++, found.length - 1)] ?? { kind: 'holds' }
  const results = () => rest.transcript.messages.flatMap((one) => (one.role === 'tool' ? [one.content] : []))
  return { ...rest, results, verified: () => verified, ending: runAgent(agent, never) }
}

describe('the status of a submission', () => {
  it.each([
    ['done', 'success'],
    [' Completed ', 'success'],
    ['FIXED', 'success'],
    ['nothing_to_do', 'skipped'],
    ['error', 'failed'],
    ['Success', 'success'],
  ])('%j is taken as %s, and both the model and the event say so', async (given, status) => {
    const { ending, received, results } = submitted([[submitting(given)]], [])
    expect(await ending).toMatchObject({ kind: 'submitted', submission: { status } })
    expect(received()).toMatchObject([{ data: { status, status_given: given } }])
    expect(results()).toEqual([`Submitted. The status ${JSON.stringify(given)} was taken as "${status}".`])
  })

  it.each(['partial', 'maybe done', '', 3, null, { status: 'done' }])('%j is refused with AGENT_005', async (given) => {
    const { ending, received } = submitted([[submitting(given)]], [])
    const reason = expect.stringContaining(`got ${JSON.stringify(given)}`)
    expect(await ending).toMatchObject({ kind: 'stopped', code: 'AGENT_005', reason })
    expect(received()[0]).toMatchObject({ status: 'error', errorCode: 'AGENT_005', data: { refused: reason } })
  })

  const nested = (value: string) => `${'['.repeat(10_000)}${value}${']'.repeat(10_000)}`
  const numbers = `[${Array.from({ length: 900 }, () => 1).join()}]`
  it.each([
    ['a deep status', `{"status":${nested('')},"summary":"s"}`, /^status: .*\(got \[{50,100}\)$/],
    ['a large status', `{"status":${numbers},"summary":"s"}`, /^status: .*\(got \[1,1,[1,]{50,100}\)$/],
    ['a long status', `{"status":"${'x'.repeat(20_000)}","summary":"s"}`, /^status: .*\(got "x{50,100}"?\)$/],
    ['many wrong files', `{"status":"success","summary":"s","changed_files":${numbers}}`, /; \d+ more$/],
    ['deep details', `{"status":"success","summary":"s","details":{"a":${nested('')}}}`, /^details: .*got \{"a":\[/],
    [
      'half of a character',
      '{"status":"success","summary":"s","details":{"a":["\\ud83d"]}}',
      /^details\.a\[0\] has half/,
    ],
    ['nothing but depth', nested(''), /^arguments: .*got \[{50,100}/],
  ])('%s is refused with AGENT_005 in few words', async (_what, args, words) => {
    const { ending, received } = submitted([[{ id: 'c', name: 'submit_result', arguments: args }]], [])
    const reason = expect.stringMatching(words)
    expect(await ending).toMatchObject({ kind: 'stopped', code: 'AGENT_005', reason })
    expect(JSON.stringify(received()[0]?.data).length).toBeLessThan(1500)
  })

  it('is shown as it was given, but not all of a long one', async () => {
    const { ending, received } = submitted([[submitting(`done${' '.repeat(1e6)}`)]], [])
    expect(await ending).toMatchObject({ kind: 'submitted' })
    expect(JSON.stringify(received()[0]?.data).length).toBeLessThan(400)
  })
})

describe('a submission that does not hold', () => {
  it.each([0, 1, 2])('goes back %i times, where the bundle says so', async (verifyAttempts) => {
    const run = submitted([[submitting()]], [wrong], { verifyAttempts })
    expect(await run.ending).toEqual({ kind: 'stopped', phase: 'submission', code: 'WORK_004', reason: wrong.reason })
    expect(run.requests).toHaveLength(verifyAttempts + 1)
  })

  it('ends the attempt on the last turn', async () => {
    const run = submitted([[read], [submitting()]], [wrong], { maxTurns: 2 })
    expect(await run.ending).toMatchObject({ kind: 'stopped', code: 'WORK_004' })
  })

  it('counts apart from submissions that are off the schema', async () => {
    const odd = [submitting('odd')]
    const run = submitted([odd, [submitting()], odd, [submitting()], [submitting()]], [wrong])
    expect(await run.ending).toMatchObject({ kind: 'stopped', code: 'WORK_004' })
    expect(run.requests).toHaveLength(5)
  })

  it('may claim too much once, apart from the times it is given back for its evidence', async () => {
    const run = submitted([[submitting()]], [overstated, wrong, wrong], { verifyAttempts: 1 })
    expect(await run.ending).toMatchObject({ kind: 'stopped', code: 'WORK_004' })
    expect(run.requests).toHaveLength(3)
    const other = submitted([[submitting()]], [wrong, overstated, overstated], { verifyAttempts: 1 })
    expect(await other.ending).toMatchObject({ kind: 'submitted', claimedUnchanged: ['b.py'] })
    expect(other.requests).toHaveLength(3)
  })

  it('is given up with the attempt that is stopped while it is verified', async () => {
    const { agent } = scriptedAgent([[submitting()]])
    const stop = new AbortController()
    agent.verify = async (_submission, signal) => {
      stop.abort(new Error('stopped'))
      signal.throwIfAborted()
      return { kind: 'holds' }
    }
    await expect(runAgent(agent, stop.signal)).rejects.toThrow('stopped')
  })

  it('is taken so at once on the last turn', async () => {
    const run = submitted([[submitting()]], [overstated], { maxTurns: 1 })
    expect(await run.ending).toMatchObject({ kind: 'submitted', claimedUnchanged: ['b.py'] })
  })
})
