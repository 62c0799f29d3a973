import { expect, test } from 'vitest'
import type { TranscriptEntry } from '#schemas/transcript-schema.ts'
import { beginningOf, isPart, prettyJson, turnsOf, withPart } from './transcript-turns.ts'

const message: TranscriptEntry = { kind: 'message', role: 'user', characters: 2, content: 'hi' }
const reply = (turn: number): TranscriptEntry => ({ kind: 'model', turn, exchange: null, reply: null })
const question: TranscriptEntry = { kind: 'question', turn: 1, question: '?', choices: null, calls: [], host_calls: [] }

test('an answer takes the place of its question, and another beginning begins anew', () => {
  const parts = [
    ['1-1', 1, message],
    ['1-2.1', 1, question],
    ['1-2', 2, reply(1)],
  ] as const
  let said: ReturnType<typeof withPart> | undefined
  for (const [id, attempt, entry] of parts) said = withPart(said, id, { attempt, entry })
  expect(said).toMatchObject({ began: 1, attempt: 2, entries: [message, reply(1)] })
  expect(withPart(said, '3-1', { attempt: 3, entry: message }).entries).toEqual([message])
})

test('turns begin with the prompts, and a message within a turn belongs to it', () => {
  const turns = turnsOf([message, reply(1), message, reply(2)])
  expect(turns.map(({ turn, entries }) => [turn, entries.length])).toEqual([
    [0, 1],
    [1, 2],
    [2, 1],
  ])
})

test('a long text has a beginning, a short one is whole', () => {
  const most = { lines: 2, characters: 5 }
  expect([beginningOf('a\nb', most), beginningOf('a\nb\nc', most), beginningOf('abcdefg', most)]).toEqual([
    undefined,
    'a\nb',
    'abcde',
  ])
})

test('JSON is shown line by line, and what is none as it is', () => {
  expect(prettyJson('{"a":1}')).toBe('{\n  "a": 1\n}')
  expect(prettyJson('{"a":')).toBe('{"a":')
  expect([isPart({ attempt: 1, entry: message }), isPart({ event: 'run.started' }), isPart(null)]).toEqual([
    true,
    false,
    false,
  ])
})
