import type { Language } from 'web-tree-sitter'
import type { PackFault } from '../check-query.ts'
import { lineAt, type QueryFile, tryCompile } from '../compile-query.ts'

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
    const start = Buffer.from(file.text).subarray(0, query.startIndexForPattern(pattern)).toString().length
    const line = lineAt(file.text, start)
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
