import { describe, expect, it } from 'vitest'
import { openOfferedList, shortModelList } from './offered-models.ts'

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

describe('the models of a server', () => {
  it('are shortened when there are many, or their names are long', () => {
    const many = Array.from({ length: 5000 }, (_, at) => `${at}${'m'.repeat(1000)}`)
    const list = shortModelList(many)
    expect(list).toMatch(/^0m+…, 1m+…, .* and 4990 more$/)
    expect(list.length).toBeLessThan(1200)
  })
})
