import { expect, it } from 'vitest'
import { z } from 'zod'
import { TranscriptFrame } from '#schemas/transcript-schema.ts'
import { useTestApi } from '../../use-test-api.fixture.ts'
import { addressOf, conversationsOn } from './played-conversation.fixture.ts'

// So that nobody who follows a conversation finds what is new without a notice.
const api = useTestApi({ lookMs: 300_000 })

const { underWay, dispatched, started, ended, settle, say, lost, ask, answered } = conversationsOn(api)

const streaming = { headers: { accept: 'text/event-stream' } }

/** Follows a conversation. Call the returned function for the next frames, in brief. */
function follower(path: string, after?: string): (count: number) => Promise<string[]> {
  const init = after === undefined ? streaming : { headers: { ...streaming.headers, 'last-event-id': after } }
  const frames = framesOf(path, init)
  return async (count) => {
    const read: string[] = []
    while (read.length < count) {
      const frame = await frames.next()
      if (frame.done === true) throw new Error(`after ${read.join()} the stream is over`)
      read.push(frame.value)
    }
    return read
  }
}

async function* framesOf(path: string, init: RequestInit): AsyncGenerator<string, void> {
  const { body } = await api.ask(path, init)
  let text = ''
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const blocks = `${text}${chunk}`.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const [id, type] = ['id', 'event'].map((name) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1])
      const data = z.looseObject({}).parse(JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? '{}'))
      if (block.includes('data:'))
        yield inBrief(
          TranscriptFrame.parse(type === undefined ? { type: 'event', id, event: data } : { type, ...data }),
        )
    }
  }
}

function inBrief(frame: TranscriptFrame): string {
  if (frame.type === 'event') return `${frame.event.attempt} ${frame.event.entry?.kind}`
  return `${frame.type} ${frame.type === 'connected' ? frame.missed : frame.type === 'end' ? frame.status : ''}`
}

it('follows one entry by entry over a hand-back and a question to its end, each entry once', async () => {
  const { runId, attempt } = await underWay()
  await say(attempt, 1, { messages: 3, exchanges: 1 })
  const follow = follower(addressOf(runId))
  expect(await follow(4)).toEqual(['connected 3', '1 message', '1 message', '1 model'])
  await say(attempt, 2, { messages: 4, exchanges: 1, tools: 1 }, { messages: 3, exchanges: 1 })
  expect(await follow(1)).toEqual(['1 tool'])
  const second = await lost(runId)
  await say(second, 1, { messages: 3, exchanges: 1 })
  expect(await follow(3)).toEqual(['2 message', '2 message', '2 model'])

  await ask(second, 2)
  expect(await follow(1)).toEqual(['2 question'])
  const third = await answered(runId)
  await say(third, 1, { messages: 5, exchanges: 1, tools: 2 })
  expect(await follow(2)).toEqual(['3 tool', '3 tool'])
  const resumed = follower(addressOf(runId), '2-3.1')
  expect(await resumed(3)).toEqual(['connected 2', '3 tool', '3 tool'])

  await settle(third)
  const rest = [...'model message model model tool model tool'.split(' ').map((kind) => `3 ${kind}`), 'end succeeded']
  expect(await follow(rest.length)).toEqual(rest)
  const markdown = await (await api.ask(`${addressOf(runId)}?format=markdown&attempt=3`, streaming)).text()
  expect(markdown).toContain('## Outcome: succeeded')
  expect(markdown).toContain('event: end')
})

it.each([
  ['alone', false],
  ['beside one who has followed it from the start', true],
])('goes on over a question from where a reader was, %s', async (_who, isFollowed) => {
  const { runId, attempt } = await underWay()
  await say(attempt, 1, { messages: 3, exchanges: 1 })
  const early = follower(addressOf(runId))
  if (isFollowed) await early(4)
  await ask(attempt, 2)
  if (isFollowed) await early(1)
  await say(await answered(runId), 1, { messages: 5, exchanges: 1, tools: 2 })
  if (isFollowed) await early(2)
  for (const id of ['1-3', '1-3.1']) {
    const resumed = (await follower(addressOf(runId), id)(3)).filter((frame) => frame !== '1 question')
    expect(resumed.slice(0, 2)).toEqual(['connected 2', '2 tool'])
  }
  const second = await follower(`${addressOf(runId)}?attempt=2`)(isFollowed ? 7 : 6)
  const question = isFollowed ? ['question'] : []
  const kinds = ['5', 'message', 'message', 'model', ...question, 'tool', 'tool']
  expect(second.map((frame) => frame.split(' ')[1])).toEqual(kinds)
})

it('waits for the start of one that has not begun', async () => {
  const run = await dispatched()
  const follow = follower(addressOf(run.runId))
  expect(await follow(1)).toEqual(['connected 0'])
  await say(await started(run), 1, { messages: 2 })
  expect(await follow(2)).toEqual(['1 message', '1 message'])
})

it('says at its end in Markdown what it came to, and not before', async () => {
  const { runId } = await ended()
  const followed = await (await api.ask(`${addressOf(runId)}?format=markdown`, streaming)).text()
  const [before = '', after = ''] = followed.split('## Outcome')
  expect(before).not.toMatch(/- status: |turns: /)
  expect(after).toMatch(/status: succeeded[^]*tokens in[^]*proved: /)
})

it('ends for all who follow one that has ended, also beside one that is slow', async () => {
  const { runId } = await ended()
  const slow = (await api.ask(addressOf(runId), streaming)).body?.getReader()
  for (const _ of ['connected', 'the entries']) await slow?.read()
  expect(await (await api.ask(addressOf(runId), streaming)).text()).toContain('event: end')
  await slow?.cancel()
})
