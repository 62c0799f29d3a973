import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { aclFile } from '#store/ledger/redis-users.ts'
import { references } from '../../scripts/reference/references.ts'

it.each(Object.entries(references))('docs/reference/%s.md is what the code says', (name, textOf) => {
  const written = readFileSync(new URL(`../../docs/reference/${name}.md`, import.meta.url), 'utf8')
  expect(written, 'node scripts/write-reference.ts writes it').toBe(textOf())
})

it('infra/redis-users.acl has the rights that the code gives each service', () => {
  const written = readFileSync(new URL('../../infra/redis-users.acl', import.meta.url), 'utf8')
  expect(written, 'node scripts/write-reference.ts writes it').toBe(aclFile())
})
