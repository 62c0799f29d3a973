import { expect, it } from 'vitest'
import { eventNames } from '#domain/events/event-table.ts'
import { filesMatching, isTestFile, productFiles, readRepositoryFile } from './source-files.ts'

const namesIn = (path: string, pattern: RegExp) =>
  readRepositoryFile(path)
    .matchAll(pattern)
    .map(([, name = '']) => name)

/** The ledger's scripts put one name together. */
const putTogether = { path: 'store/ledger/transitions.lua', text: "'operation.' .. data.status" }

const inScripts = new Set(
  filesMatching('store/ledger/*.lua').flatMap((path) => [...namesIn(path, /'([a-z_]+\.[a-z_]+)'/g)]),
)
const inModules = new Set(
  productFiles()
    .filter((path) => !isTestFile(path))
    .flatMap((path) => [...namesIn(path, /\bevent: '([a-z_]+\.[a-z_]+)'/g)]),
)

it('every event that is declared is emitted', () => {
  expect(readRepositoryFile(putTogether.path)).toContain(putTogether.text) // that is, operation.failed and operation.blocked
  expect(eventNames.filter((name) => !inScripts.has(name) && !inModules.has(name))).toEqual([])
})

it('every event that is emitted is declared', () => {
  const declared = new Set<string>(eventNames)
  expect([...inScripts, ...inModules].filter((name) => !declared.has(name))).toEqual([])
})
