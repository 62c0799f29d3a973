import { describe, expect, it } from 'vitest'
import { textStream } from './event-stream.ts'

function watched(texts: AsyncGenerator<string, void, undefined>) {
  const seen: { left: number; failures: unknown[] } = { left: 0, failures: [] }
  const stream = textStream(texts, {
    leave: () => void (seen.left += 1),
    onFailure: (error) => void seen.failures.push(error),
  })
  return { stream, seen }
}

describe('a body of texts', () => {
  it('asks for a text only when the one before is taken', async () => {
    const asked: number[] = []
    async function* texts() {
      for (let text = 1; ; text += 1) {
        asked.push(text)
        yield `${text}`
      }
    }
    const { stream } = watched(texts())
    const reader = stream.getReader()
    expect(asked).toEqual([])
    await reader.read()
    await reader.read()
    expect(asked).toEqual([1, 2])
    await reader.cancel()
  })

  it('lets go of its texts when the client leaves', async () => {
    let isClosed = false
    async function* texts() {
      try {
        yield 'first'
        yield 'second'
      } finally {
        isClosed = true
      }
    }
    const { stream, seen } = watched(texts())
    const reader = stream.getReader()
    await reader.read()
    await reader.cancel()
    expect({ isClosed, ...seen }).toEqual({ isClosed: true, left: 1, failures: [] })
  })

  it('ends behind the last whole text when the next one fails', async () => {
    const failure = new Error('lost')
    async function* texts() {
      yield 'whole\n'
      throw failure
    }
    const { stream, seen } = watched(texts())
    expect(await new Response(stream).text()).toBe('whole\n')
    expect(seen.failures).toEqual([failure])
  })
})
