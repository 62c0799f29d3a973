import { describe, expect, it } from 'vitest'
import type { Exchange } from '#store/objects/attempt-record.ts'
import { planProbes } from './plan-probes.ts'
import type { ProbeResult, Verdict } from './run-probe.ts'
import { allShapes } from './shapes.ts'
import { reportSide } from './side-report.ts'

const settings = {
  toolChoice: 'required',
  constraint: 'none',
  temperature: 0,
  maxTokens: 256,
  toolGuide: true,
  stream: false,
} as const
const unused = { complete: () => Promise.reject(new Error('nothing is asked here')) }
const side = { servers: 'here', model: 'tiny', settings, pool: unused }
const probes = planProbes({ shapes: allShapes.filter(({ name }) => name === 'enum'), requests: 5, seed: 1 })

const right: Verdict = {
  called: true,
  parsedFromContent: false,
  rightTool: true,
  rightArguments: true,
  submitted: true,
}
const wrong: Verdict = { ...right, called: false, rightTool: false, rightArguments: false }

function exchange(durationMs: number, more: Partial<Exchange> = {}): Exchange {
  const usage = { promptTokens: 100, completionTokens: 10 }
  const sent = { turn: 1, startedAt: 0, toolChoice: 'required', messages: 2, leftOut: 0 }
  return { ...sent, model: 'tiny', durationMs, usage, tries: 1, ...more }
}

const resultOf = (at: number, more: Partial<ProbeResult> = {}): ProbeResult => {
  const [first] = probes
  if (first === undefined) throw new Error('a plan has probes')
  const base = {
    verdict: right,
    firstReply: undefined,
    exchanges: [exchange(10)],
    agentMs: 30,
    answeredBy: 'Tiny 1',
    faults: [],
  }
  return { probe: probes[at] ?? first, ...base, ...more }
}

describe('the report of a side', () => {
  it('counts by prompt, by shape and in all, calls in content as a share of the calls', () => {
    const results = probes.map((_, at) => {
      if (at % 3 === 1) return resultOf(at, { verdict: wrong })
      return resultOf(at, at % 3 === 2 ? { verdict: { ...right, parsedFromContent: true } } : {})
    })
    const { total, shapes, answered_by: answeredBy } = reportSide(side, results, 1000)
    expect(answeredBy).toBe('Tiny 1')
    expect(total).toMatchObject({ requests: 15, called: 0.6667, submitted: 1, parsed_from_content: 0.5 })
    expect(shapes.map(({ name, requests }) => [name, requests])).toEqual([['enum', 15]])
    expect(
      shapes[0]?.variants.map(({ name, called, parsed_from_content: inContent }) => [name, called, inContent]),
    ).toEqual([
      ['plain', 1, 0],
      ['question', 0, 0],
      ['noisy', 1, 1],
    ])
  })

  it('takes latency from the first replies, tokens and tries from all that were answered', () => {
    const failed = exchange(9000, { usage: undefined, tries: undefined, error: { message: 'gone' } })
    const results = [
      resultOf(0, {
        exchanges: [exchange(40, { firstTokenMs: 5, workarounds: ['named'] }), exchange(10, { tries: 3 })],
      }),
      resultOf(1, { exchanges: [failed], agentMs: 9000, answeredBy: '' }),
    ]
    expect(reportSide(side, results, 2000)).toMatchObject({
      latency_ms: {
        first_reply: { p50: 40, p95: 40, p99: 40 },
        first_token: { p50: 5, p95: 5, p99: 5 },
        agent: { p50: 30, p95: 9000, p99: 9000 },
      },
      replies: 2,
      tries: 4,
      tokens: { prompt: 200, completion: 20, per_s_of_reply: 400, per_s: 10 },
      workarounds: { named: 1 },
    })
  })

  it('shows three misses of every prompt, those with a fault among them, and what went well not at all', () => {
    const missed = [0, 3, 6, 9].map((at) => resultOf(at, { verdict: wrong }))
    const refused = resultOf(1, { faults: [{ code: 'TOOL_002', message: 'x' }] })
    const { misses } = reportSide(side, [...missed, refused, resultOf(2)], 1)
    expect(misses.map(({ variant, number }) => `${variant} ${number}`)).toEqual([
      'plain 1',
      'plain 2',
      'plain 3',
      'question 1',
    ])
  })
})
