import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { knownVariables } from '#settings/known-variables.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

it('every variable that some part reads is known, and no other', () => {
  const files = globSync(['cli/config.ts', 'services/*/config.ts', 'core/platform/*.ts', 'core/settings/*.ts'], {
    cwd: root,
  })
  const sources = files
    .filter((file) => !/test|known-variables/.test(file))
    .map((file) => readFileSync(`${root}${file}`, 'utf8'))
  const read = new Set(sources.flatMap((text) => text.match(/\bREMORA_[A-Z0-9_]+\b/g) ?? []))
  expect(knownVariables()).toEqual([...read].toSorted())
})
