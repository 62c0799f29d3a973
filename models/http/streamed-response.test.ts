import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { StreamedResponse } from './streamed-response.ts'

const head = { status: 200, headers: {}, toError: (cause: unknown) => cause }

describe('StreamedResponse', () => {
  it('rejects, and closes its socket, when its reader throws', async () => {
    const content = Readable.from([Buffer.from('a'), Buffer.from('b')])
    const cause = new Error('a bug')
    const reading = new StreamedResponse(content, head).read(() => {
      throw cause
    })
    await expect(reading).rejects.toMatchObject({ code: 'AGENT_008', cause })
    expect(content.destroyed).toBe(true)
  })
})
