import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { errorReference } from '../../scripts/error-reference.ts'

it('docs/reference/errors.md is what the code says', () => {
  expect(readFileSync(new URL('../../docs/reference/errors.md', import.meta.url), 'utf8')).toBe(errorReference())
})
