import { describe, expect, it } from 'vitest'
import { openUploadGate } from './intake-routes.ts'

const staying = new AbortController().signal

describe('openUploadGate', () => {
  it('lets the next one in when one has gone', async () => {
    const enter = openUploadGate(1)
    const leave = await enter(staying)
    const next = enter(staying)
    leave()
    ;(await next)()
    await expect(enter(staying)).resolves.toBeTypeOf('function')
  })

  it('sends away who has waited too long, with words for the caller', async () => {
    const enter = openUploadGate(1, 5)
    await enter(staying)
    await expect(enter(staying)).rejects.toMatchObject({
      code: 'LIMIT_002',
      status: 503,
      detail: 'All upload slots (1) are in use: try again in a few seconds.',
    })
  })

  it('keeps no place for who has left', async () => {
    const enter = openUploadGate(1)
    const leave = await enter(staying)
    const gone = new AbortController()
    const left = enter(gone.signal)
    gone.abort()
    await expect(left).rejects.toMatchObject({ code: 'INTAKE_001' })
    leave()
    await expect(enter(staying)).resolves.toBeTypeOf('function')
  })
})
