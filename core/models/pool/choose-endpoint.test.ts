import { describe, expect, it } from 'vitest'
import { chooseEndpoint } from './choose-endpoint.ts'

const endpoint = (name: string, places = 1) => ({ name, free: () => places })

describe('chooseEndpoint', () => {
  const [a, b, full] = [endpoint('a'), endpoint('b'), endpoint('full', 0)]

  it('goes round', () => {
    expect([0, 1, 2, 3].map((turn) => chooseEndpoint([a, b], turn).name)).toEqual(['a', 'b', 'a', 'b'])
  })

  it('passes over the full one while another has a place', () => {
    expect([0, 1].map((turn) => chooseEndpoint([full, b], turn).name)).toEqual(['b', 'b'])
    expect(chooseEndpoint([full], 0)).toBe(full)
  })

  it('avoids the one that failed while there is another', () => {
    expect([0, 1].map((turn) => chooseEndpoint([a, b], turn, a).name)).toEqual(['b', 'b'])
    expect(chooseEndpoint([a], 0, a)).toBe(a)
  })
})
