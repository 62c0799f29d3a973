import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { attributeOf, type CollectedSpan, startTraceCollector, type TraceCollector } from '#testing/trace-collector.ts'
import { smallSource, sourceFolder } from '../source-folder.ts'
import { startInOneProcess } from '../one-process.ts'

describe('a run of services that have a collector of traces', () => {
  let collector: TraceCollector
  let spans: CollectedSpan[] = []

  beforeAll(async () => {
    collector = await startTraceCollector()
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20of-the-collector',
      REMORA_TRACES_OPERATIONS: '1',
    }
    const services = await startInOneProcess({ env })
    const folder = await sourceFolder(smallSource)
    const runId = await services.api.submit(await folder.pack(), { agents: ['lint', 'docstring'] })
    await folder.remove()
    await services.api.follow(runId)
    await services.close()
    spans = collector.spans
  })
  afterAll(() => collector.close())

  const named = (name: string) => spans.filter((span) => span.name === name)
  const parentOf = (span: CollectedSpan | undefined) => spans.find(({ spanId }) => spanId === span?.parentSpanId)

  it('is one trace over the services, whose spans all have their parent', () => {
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1)
    const roots = spans.filter(({ parentSpanId }) => (parentSpanId ?? '') === '')
    expect(roots).toMatchObject([{ name: 'POST /v1/runs', service: 'remora-api' }])
    expect(spans.filter((span) => parentOf(span) === undefined)).toEqual(roots)
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length)
    expect(collector.authorized).toContain('Bearer of-the-collector')
  })

  it('goes from the run to its stages, attempts, turns, requests to the model and tools', () => {
    const [run] = named('run')
    expect(parentOf(run)?.name).toBe('POST /v1/runs')
    for (const stage of ['snapshot', 'discovery', 'compose']) expect(parentOf(named(stage)[0]), stage).toBe(run)
    const attempts = spans.filter(({ name }) => name.startsWith('invoke_agent '))
    expect(attempts.map(({ name }) => name).toSorted()).toEqual([
      'invoke_agent docstring',
      'invoke_agent docstring',
      'invoke_agent lint',
    ])
    for (const attempt of attempts) expect(parentOf(attempt)).toBe(run)
    const [tool] = named('execute_tool write_docstring')
    expect(attributeOf(tool ?? { attributes: [] }, 'gen_ai.tool.name')).toBe('write_docstring')
    const turn = parentOf(tool)
    expect(turn?.name).toBe('turn')
    expect(parentOf(turn)?.name).toBe('invoke_agent docstring')
    const chats = spans.filter(({ name }) => name.startsWith('chat '))
    expect(chats).toHaveLength(2)
    for (const chat of chats) expect(parentOf(chat)?.name).toBe('turn')
    expect(named('settle')).toHaveLength(3)
  })

  it('has spans within the time of their parents, and no text of the repository or of the model', () => {
    const slackNs = 2_000_000n // events have their times in whole milliseconds, and stages by the clock of their process
    for (const span of spans) {
      expect(span.endTimeUnixNano).toBeGreaterThanOrEqual(span.startTimeUnixNano)
      const parent = parentOf(span)
      if (parent === undefined || parent.name === 'POST /v1/runs' || span.name === 'compose') continue
      expect(span.startTimeUnixNano + slackNs, span.name).toBeGreaterThanOrEqual(parent.startTimeUnixNano)
    }
    expect(JSON.stringify(spans.map(({ attributes }) => attributes))).not.toMatch(/def |"""|return/)
  })
})
