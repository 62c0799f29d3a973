import { describe, expect, it } from 'vitest'
import { openModelPool } from '#models/model-pool.ts'
import { until } from '#testing/until.ts'
import { faultNames, type FaultName } from '../../services/rehearsal/faults.ts'
import { startRehearsal } from '../../services/rehearsal/rehearsal-server.ts'
import { runAgent } from '#stages/operate/agent/run-agent.ts'
import { fileAgent } from './file-agent.fixture.ts'

/**
 * How an attempt ends, and how many turns it asks the model for. `tries`: those of the first turn, undefined where it was
 * not answered. `sent`: the requests that the server got for all turns. `file`: the text of the file afterwards. `says`: what
 * the events of the first turn show of the fault.
 */
type Row = { ends: object; requests: number; tries: number | undefined; sent: number; file?: string; says?: object }

const submitted = (requests: number): Row => ({
  ends: { kind: 'submitted', submission: { status: 'success' } },
  requests,
  tries: 1,
  sent: requests,
  file: 'x = 1\n',
})
const stopped = (code: string, requests: number): Row => ({
  ends: { kind: 'stopped', code },
  requests,
  tries: 1,
  sent: requests,
})
/** The pool gives up at the first turn's request: there is no time for a retry. */
const thrown = (code: string, said = /./): Row => ({
  ends: { thrown: { code, phase: 'model', message: expect.stringMatching(said) } },
  requests: 1,
  tries: undefined,
  sent: 1,
})
/** And probes the server, to judge the model. */
const unanswered = (said = /./): Row => ({ ...thrown('AGENT_002', said), sent: 2 })
const triedAgain: Row = { ...submitted(3), tries: 2, sent: 4 }
const unhindered = (says: object = {}) => ({ always: { ...submitted(3), says }, once: { ...submitted(3), says } })
const inContent = unhindered({ called: { parsed_from_content: true } })
const gone = { always: unanswered(), once: triedAgain }
/** A second try, begun within the budget of its first failure, has its own time limit; a third would begin after it. */
const late = {
  always: unanswered(/(?:no answer|did not end) in time(?: \(2 tries [^(]*)?$/),
  once: triedAgain,
}

const rows: Record<FaultName, { always: Row; once: Row }> = {
  latency: late,
  hang: late,
  stall: late,
  // What is refused is not tried again: the pool asks whether others would be, too.
  '403': {
    always: unanswered(/filter of content$/),
    once: unanswered(/filter of content; other requests are answered$/),
  },
  '429': { always: thrown('AGENT_002', /: answered 429 [^(]*$/), once: triedAgain },
  '503': gone,
  '529': gone,
  // The probe had used the socket before, so its reset does not count as a try.
  reset: { always: { ...unanswered(), sent: 3 }, once: { ...submitted(3), sent: 4 } },
  error_in_stream: gone,
  truncated: { always: thrown('AGENT_008'), once: triedAgain },
  // At temperature 0 the model would give the same reply again: no retry is spent on it.
  oversized: { always: thrown('AGENT_007', /larger than allowed$/), once: thrown('AGENT_007', /larger than allowed$/) },
  json_in_content: inContent,
  hermes_in_content: inContent,
  functiongemma_in_content: inContent,
  qwen_in_content: inContent,
  parallel_calls: unhindered({ responded: { calls: 2 } }),
  no_done: unhindered({ responded: { calls: 1 } }),
  crlf: unhindered({ responded: { calls: 1 } }),
  split_bytes: unhindered({ responded: { calls: 1 } }),
  no_usage: unhindered({ responded: { workarounds: ['usage estimated'] } }),
  no_tool_call: { always: stopped('AGENT_003', 2), once: submitted(4) },
  cut_call_in_content: { always: stopped('AGENT_007', 2), once: submitted(4) },
  unknown_tool: { always: stopped('AGENT_004', 4), once: submitted(4) },
  // The rehearsal model reads a file once: one that it could not read it reports as failed.
  malformed_arguments: {
    always: stopped('AGENT_009', 4),
    once: { ends: { kind: 'submitted', submission: { status: 'failed' } }, requests: 2, tries: 1, sent: 2 },
  },
}
/** Faults that only a time limit ends; others must not fail because a machine is busy. */
const ofTime: readonly FaultName[] = ['latency', 'hang', 'stall']

/** A retry budget so short that no second try may start, not even one without a back-off. */
const oneTryMs = -1
const maxInFlight = 1
/** Idle sockets that may be used again: of two turns, of the probe's two requests, of two other questions. */
const maxSockets = 2 * maxInFlight + 4
const never = new AbortController().signal

/** Runs the loop over the pool against a server that has the fault `times` times; always when absent. */
async function runBefore(fault: FaultName, { stream, times }: { stream: boolean; times?: number }) {
  const faults = { shares: { [fault]: 1 }, seed: 1, times }
  const { url, load, close } = await startRehearsal({ host: '127.0.0.1', port: 0, faults })
  const pool = openModelPool({
    endpoints: [{ url }],
    requestTimeoutMs: ofTime.includes(fault) ? 400 : 20_000,
    retryBudgetMs: times === undefined ? oneTryMs : 15_000,
    maxInFlight,
    stream,
  })
  const { agent, files, events } = fileAgent(pool)
  await using closing = new AsyncDisposableStack()
  closing.defer(close)
  closing.defer(pool.close)
  const ended = await runAgent(agent, never).catch((error: unknown) => ({ thrown: error }))
  // Before the pool is closed no request is open, and there are no more sockets than idle ones that may be reused.
  await until(load, { holds: (now) => now.unanswered === 0 })
  const { asked, sockets } = await load()
  expect(sockets).toBeLessThanOrEqual(maxSockets)
  await pool.close()
  await until(load, { holds: (now) => now.sockets === 0 })
  const named = (name: string) => events.filter(({ event }) => event === name)
  return { ended, asked, files, exchanges: agent.transcript.exchanges, named }
}

const atLeast = (least = 0): unknown => expect.toSatisfy((count: number) => count >= least)

describe.each([
  { how: 'unstreamed', stream: false },
  { how: 'streamed', stream: true },
])('an agent whose answers come $how', ({ stream }) => {
  const both = faultNames.flatMap((fault) => [
    { fault, mode: 'always' as const },
    { fault, mode: 'once' as const },
  ])

  it.concurrent.each(both)(
    'before $fault, $mode: ends as it must, within its budget, and leaves nothing open',
    async ({ fault, mode }) => {
      const { ends, requests, tries, sent, file = 'x = 1', says = {} } = rows[fault][mode]
      const {
        ended,
        asked: got,
        files,
        exchanges,
        named,
      } = await runBefore(fault, mode === 'once' ? { stream, times: 1 } : { stream })
      expect(ended).toMatchObject(ends)
      const asked = named('model.requested').map(({ data }: { data: Record<string, unknown> }) =>
        Number(data['messages']),
      )
      expect(asked).toHaveLength(requests)
      expect(asked).toEqual([...new Set(asked)].toSorted((one, other) => one - other)) // it grows with every turn
      expect(named('model.responded')).toHaveLength(requests)
      expect(exchanges).toHaveLength(requests)
      expect({ called: named('tool.called')[0]?.data, responded: named('model.responded')[0]?.data }).toMatchObject(
        says,
      )
      // On a busy machine a short limit may end other requests, too, which are then retried.
      const isAtLeast = mode === 'once' && ofTime.includes(fault)
      const counted = isAtLeast ? [atLeast(tries), atLeast(sent)] : [tries, sent]
      expect([exchanges[0]?.tries, got]).toEqual(counted)
      expect(files.get('src/a.py')).toBe(file)
    },
  )
})
