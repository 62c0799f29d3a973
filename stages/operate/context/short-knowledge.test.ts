import { expect, it } from 'vitest'
import { shortKnowledge } from './bounded-text.ts'

it('keeps what is short as it is, and the beginning of what is long', () => {
  const files = Array.from({ length: 1000 }, (_, at) => `src/${at}.py`)
  const { total, style, files: kept } = shortKnowledge({ total: 3, style: { name: 'google' }, files })
  expect([total, style]).toEqual([3, { name: 'google' }])
  expect(kept).toMatch(/^\["src\/0\.py",.*…$/)
  expect(String(kept)).toHaveLength(200)
})

it('fits an event whatever a tool has learned', () => {
  const delta = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`${at}${'k'.repeat(900)}`, 'v'.repeat(900)]))
  expect(JSON.stringify(shortKnowledge(delta)).length).toBeLessThan(8 * 1024)
})
