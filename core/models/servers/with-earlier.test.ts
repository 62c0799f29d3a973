import { expect, it } from 'vitest'
import { allCapabilities } from './capabilities.ts'
import type { Probed } from './probe-capabilities.ts'
import { withEarlier } from './with-earlier.ts'

const earlier: Probed = {
  capabilities: { ...allCapabilities, required: false, ebnf: 'grammar' },
  lacks: { required: 'ignored' },
  conclusive: true,
}
const unclear: Probed = { capabilities: allCapabilities, lacks: {}, conclusive: false }

it('a server that answers no probe for load still lacks what it was found to lack', () => {
  expect(withEarlier(unclear, earlier)).toMatchObject({
    capabilities: { required: false, named: true },
    lacks: { required: 'ignored' },
    conclusive: false,
  })
})

it('a probe that left nothing unclear counts alone, and so does the first', () => {
  const clear: Probed = { capabilities: allCapabilities, lacks: {}, conclusive: true }
  expect(withEarlier(clear, earlier)).toBe(clear)
  expect(withEarlier(unclear, undefined)).toBe(unclear)
})
