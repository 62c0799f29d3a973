import { describe, expect, it, onTestFinished } from 'vitest'
import type { Span } from '#domain/span.ts'
import { freePorts } from '#testing/this-machine.ts'
import { recordedLog, soonClock } from '#testing/recorded-log.ts'
import { attributeOf, startTraceCollector } from '#testing/trace-collector.ts'
import { noTracing, openTracing, tracedStage } from './open-tracing.ts'

const aSpan = (given: Partial<Span> = {}): Span => ({
  traceId: 'a'.repeat(32),
  spanId: 'b'.repeat(16),
  name: 'work',
  kind: 'internal',
  startMs: 1_000,
  endMs: 2_000.5,
  attributes: {},
  ...given,
})
const self = { service: 'worker', instance: 'w1' }

describe('traces', () => {
  it('are sent with who sent them, with what went wrong, and without attributes that nobody gave', async () => {
    const collector = await startTraceCollector()
    onTestFinished(collector.close)
    const { log } = recordedLog()
    const traces = await openTracing({ endpoint: `${collector.endpoint}/`, headers: {}, share: 1 }, { ...self, log })
    traces.record(aSpan({ errorCode: 'AGENT_002', attributes: { given: 'yes', not: undefined } }))
    await traces.close()
    const [span] = collector.spans
    expect(span).toMatchObject({ name: 'work', service: 'remora-worker', startTimeUnixNano: 1_000_000_000n })
    expect(span).toMatchObject({ endTimeUnixNano: 2_000_500_000n, status: { code: 2 } })
    expect(span?.attributes.map(({ key }) => key).toSorted()).toEqual(['error.type', 'given'])
    expect(attributeOf(span ?? { attributes: [] }, 'error.type')).toBe('AGENT_002')
  })

  it('that cannot be sent cost no more than a line of the log', async () => {
    const [port] = await freePorts(1)
    const { log, messages } = recordedLog({ clock: soonClock })
    const endpoint = `http://127.0.0.1:${port}`
    const traces = await openTracing({ endpoint, headers: {}, share: 1 }, { ...self, log })
    for (let at = 0; at < 20_000; at += 1) traces.record(aSpan())
    await traces.close()
    expect(messages()).toEqual(['the collector of traces cannot be used'])
  })

  it('begin for the share that was asked for, and nowhere without a collector', async () => {
    const { log } = recordedLog()
    const sampled = async (share: number, endpoint: string | undefined = 'http://127.0.0.1:1') => {
      const traces = await openTracing({ endpoint, headers: {}, share }, { ...self, log })
      await traces.close()
      return Array.from({ length: 50 }, traces.samples)
    }
    expect(new Set(await sampled(1))).toEqual(new Set([true]))
    expect(new Set(await sampled(0))).toEqual(new Set([false]))
    expect(await openTracing({ endpoint: undefined, headers: {}, share: 1 }, { ...self, log })).toBe(noTracing)
  })
})

describe('the span of a stage', () => {
  const run = { traceId: 'c'.repeat(32), spanId: 'd'.repeat(16) }
  const stage = (flags: string) => ({ name: 'snapshot', traceparent: `00-${run.traceId}-${run.spanId}-${flags}` })

  it('is below the run, and has the code of what ended it', async () => {
    const spans: Span[] = []
    const traces = { record: (span: Span) => void spans.push(span) }
    expect(await tracedStage(stage('01'), traces, async () => 'done')).toBe('done')
    await expect(tracedStage(stage('01'), traces, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
    expect(spans).toMatchObject([
      { name: 'snapshot', kind: 'internal', traceId: run.traceId, parentId: run.spanId, errorCode: undefined },
      { name: 'snapshot', errorCode: 'TOOL_004' },
    ])
  })

  it.each([null, stage('00').traceparent, 'nonsense'])(
    'is not made for a run with the traceparent %s',
    async (given) => {
      const spans: Span[] = []
      await tracedStage(
        { name: 'snapshot', traceparent: given },
        { record: (span) => void spans.push(span) },
        async () => {},
      )
      expect(spans).toEqual([])
    },
  )
})
