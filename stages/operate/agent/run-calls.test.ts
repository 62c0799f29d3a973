import { describe, expect, it } from 'vitest'
import { until } from '#testing/until.ts'
import { runAgent } from './run-agent.ts'
import { call, done, never, pathTool, scriptedAgent, submitting } from './scripted-agent.fixture.ts'

type Step = { name: string; path: string }

/** `read` and `write`, whose runs end when the test lets them; `most` is how many ran at the same time. */
function gatedTools() {
  const running: (Step & { end(error?: Error): void; isAborted(): boolean })[] = []
  const seen: { most: number; order: string[] } = { most: 0, order: [] }
  const gated = (name: string, effects: 'reads' | 'writes') =>
    pathTool(name, effects, async ({ path }, signal) => {
      seen.order.push(`${name} ${String(path)}`)
      const ended = Promise.withResolvers<void>()
      const end = (error?: Error) => (error === undefined ? ended.resolve() : ended.reject(error))
      const one = { name, path: String(path), end, isAborted: () => signal.aborted }
      running.push(one)
      seen.most = Math.max(seen.most, running.length)
      await ended.promise.finally(() => running.splice(running.indexOf(one), 1))
      return { ...done, result: { ...done.result, summary: String(path) } }
    })
  const endAll = () => running.slice().forEach((one) => one.end())
  return { running, seen, endAll, tools: [gated('read', 'reads'), gated('write', 'writes')] }
}

const reads = (count: number) => Array.from({ length: count }, (_, at) => call('read', { path: `${at}` }, `c${at}`))

async function settled(): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await Promise.resolve()
}

describe('several calls in one reply', () => {
  it.each([1, 3])('run at once where they only read, %i at most, and always as many as may', async (parallelTools) => {
    const { running, seen, tools } = gatedTools()
    const { agent, transcript } = scriptedAgent([reads(7), [submitting()]], { parallelTools }, tools)
    const ending = runAgent(agent, never)
    for (let left = 7; left > 0; left--) {
      await until(() => running, { holds: ({ length }) => length === Math.min(parallelTools, left) })
      await settled()
      expect(running).toHaveLength(Math.min(parallelTools, left))
      running.at(-1)?.end() // the last one first: results keep the order of the calls all the same
    }
    expect(await ending).toMatchObject({ kind: 'submitted' })
    expect(seen.most).toBe(parallelTools)
    const answered = transcript.messages.flatMap((message) => (message.role === 'tool' ? [message.toolCallId] : []))
    expect(answered.slice(0, 7)).toEqual(reads(7).map(({ id }) => id))
    expect(transcript.toolRuns.map(({ result }) => result.summary)).toEqual(['0', '1', '2', '3', '4', '5', '6'])
  })

  it('run one by one where they write: nothing else runs at the same time, and earlier reads have ended', async () => {
    const { seen, tools, endAll } = gatedTools()
    const [a, b, , , e] = reads(5)
    const write = (path: string) => call('write', { path }, `w${path}`)
    const calls = [a, b, write('2'), write('3'), e].filter((one) => one !== undefined)
    const { agent } = scriptedAgent([calls, [submitting()]], {}, tools)
    const ending = runAgent(agent, never)
    const together: string[][] = []
    while (together.flat().length < 5) {
      const before = together.flat().length
      await until(() => seen.order, { holds: ({ length }) => length > before })
      await settled()
      together.push(seen.order.slice(before))
      endAll()
    }
    expect(together).toEqual([['read 0', 'read 1'], ['write 2'], ['write 3'], ['read 4']])
    expect(await ending).toMatchObject({ kind: 'submitted' })
  })

  it('go on while one of them fails', async () => {
    const late = pathTool('late', 'reads', async () => ({
      ...done,
      result: { ...done.result, outcome: 'error', errorCode: 'TOOL_003', summary: 'was stopped' },
    }))
    const { running, tools, endAll } = gatedTools()
    const calls = [call('late', { path: 'x' }, 'late'), ...reads(2), call('none', {}, 'none')]
    const { agent, transcript, events } = scriptedAgent([calls, [submitting()]], {}, [...tools, late])
    const ending = runAgent(agent, never)
    await until(() => running, { holds: ({ length }) => length === 2 })
    endAll()
    expect(await ending).toMatchObject({ kind: 'submitted' })
    expect(transcript.toolRuns.map(({ result }) => result.errorCode)).toEqual([
      'TOOL_003',
      undefined,
      undefined,
      'TOOL_001',
    ])
    expect(events.filter(({ event }) => event === 'tool.returned')).toHaveLength(4)
  })

  it('are all stopped and waited for when one throws, and what had ended is kept', async () => {
    const { running, tools, endAll } = gatedTools()
    const { agent, transcript } = scriptedAgent([reads(4)], { parallelTools: 3 }, tools)
    let isOver = false
    const ending = runAgent(agent, never).finally(() => (isOver = true))
    await until(() => running, { holds: ({ length }) => length === 3 })
    running.find(({ path }) => path === '0')?.end()
    await until(() => running, { holds: (calls) => calls.some(({ path }) => path === '3') })
    const fault = new Error('ours')
    running.find(({ path }) => path === '1')?.end(fault)
    await until(() => running.filter((one) => !one.isAborted()), { holds: ({ length }) => length === 0 })
    await settled()
    expect(isOver).toBe(false)
    endAll()
    await expect(ending).rejects.toBe(fault)
    expect(running).toEqual([])
    expect(transcript.toolRuns.map(({ callId }) => callId)).toEqual(['c0', 'c2', 'c3'])
  })

  it('are stopped with the attempt, those that have not begun among them', async () => {
    const { running, seen, tools, endAll } = gatedTools()
    const { agent } = scriptedAgent([reads(5)], { parallelTools: 2 }, tools)
    const stop = new AbortController()
    const ending = runAgent(agent, stop.signal)
    await until(() => running, { holds: ({ length }) => length === 2 })
    const reason = new Error('cancelled')
    stop.abort(reason)
    endAll()
    await expect(ending).rejects.toBe(reason)
    expect(seen.order).toHaveLength(2)
  })

  it('are not run behind a submission that was taken, and are behind one that was not', async () => {
    const bad = { ...submitting('odd'), id: 'bad' }
    const good = { ...submitting(), id: 'good' }
    const path = (id: string) => call('read_file', { path: id }, id)
    const { agent, ran, transcript } = scriptedAgent([[bad, path('a'), good, path('b')]])
    expect(await runAgent(agent, never)).toMatchObject({ kind: 'submitted' })
    expect(ran).toEqual(['a'])
    const texts = transcript.messages.flatMap((message) => (message.role === 'tool' ? [message.content] : []))
    expect(texts[3]).toBe('Not run: the work was already submitted.')
  })
})
