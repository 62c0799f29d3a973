import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { apiReference } from '../../scripts/api-reference.ts'

it('docs/reference/api.md is what the routes say', () => {
  expect(readFileSync(new URL('../../docs/reference/api.md', import.meta.url), 'utf8')).toBe(apiReference())
})
