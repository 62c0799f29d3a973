import { describe, expect, it } from 'vitest'
import { openOfferedList } from './offered-list.ts'

describe('a model that a server does not have after all', () => {
  it.each([
    ['named by the operator', ['lora', 'base']],
    ['nobody has named', []],
  ])('is not asked for there for a minute when it was %s', (_what, named) => {
    const time = { now: 0 }
    const offered = openOfferedList(named, { now: () => time.now })
    offered.lacks('lora')
    expect([offered.mayOffer('lora'), offered.mayOffer('base')]).toEqual([false, true])
    expect(offered.models() ?? []).not.toContain('lora')
    time.now = 60_000
    expect(offered.mayOffer('lora')).toBe(true)
    expect(offered.models()).toEqual(named.length === 0 ? undefined : named)
  })

  it('is offered again as soon as the server lists it', () => {
    const offered = openOfferedList()
    offered.lacks('lora')
    offered.learn(['lora'])
    expect(offered.mayOffer('lora')).toBe(true)
  })
})
