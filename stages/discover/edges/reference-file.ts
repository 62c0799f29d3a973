import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Language } from 'web-tree-sitter'
import { sha256 } from '#domain/ids.ts'
import { parserVersion } from '#languages/syntax/grammars.ts'
import { patternLine, type QueryFile, tryCompile } from '../compile-query.ts'
import type { PackFault } from '../check-query.ts'

/** The query file of a pack for references. It makes no nodes, and a change of it changes none. */
export const referenceFile = 'references.scm'

/** `hash` changes with the query, the grammar, the parser, or the way references are read from matches. */
export type ReferenceFile = QueryFile & { hash: string }

/** Raised whenever the same bytes give other references. */
const referencesVersion = 1

export function readReferenceFile(folder: string): Promise<QueryFile | undefined> {
  const path = join(folder, referenceFile)
  return readFile(path, 'utf8').then(
    (text) => ({ path, text }),
    () => undefined,
  )
}

export function hashReferenceFile(file: QueryFile, grammarHash: string): ReferenceFile {
  return { ...file, hash: sha256(JSON.stringify([referencesVersion, grammarHash, parserVersion(), file.text])) }
}

const captureName =
  /^(?:import\.(?:module|name|alias)|call\.(?:name|receiver)|inherits\.name|local\.(?:name|type|value)|_.*)$/

/** Everything wrong with a pack's `references.scm`. Lines are those of the pattern at fault, or of the compiler's complaint. */
export function checkReferenceFile(language: Language, file: QueryFile): PackFault[] {
  const compiled = tryCompile(language, file)
  const at = { code: 'DISC_002', file: file.path } as const
  if (!compiled.ok) return [{ ...at, fault: 'does_not_compile', line: compiled.line, message: compiled.message }]
  const { query } = compiled
  const faults: PackFault[] = []
  for (let pattern = 0; pattern < query.patternCount(); pattern++) {
    const quantifiers = query.captureQuantifiers[pattern] ?? []
    const names = query.captureNames.filter((_, index) => (quantifiers[index] ?? 0) !== 0)
    const line = patternLine(file, query, pattern)
    for (const name of names)
      if (!captureName.test(name)) faults.push({ ...at, fault: 'invalid_capture_name', line, message: `@${name}` })
    const kinds = new Set(names.flatMap((name) => (name.startsWith('_') ? [] : [name.split('.')[0] ?? ''])))
    if (kinds.size === 1) continue
    const message = `the pattern must capture one kind of reference, not ${[...kinds].join(' and ') || 'none'}`
    faults.push({ ...at, fault: 'missing_capture', line, message })
  }
  query.delete()
  return faults
}
