import type { Edit } from '#domain/change-set.ts'
import { isStandardModule } from '#languages/python/standard-modules.ts'
import {
  boundBy,
  type ImportLine,
  importText,
  isPython,
  namesInBody,
  readTestText,
  takesTests,
  type TestText,
} from './test-text.ts'

type Joined = { kind: 'joined'; text: string } | { kind: 'apart'; reason: string }

/** Joins new files of tests: their imports, then their bodies, in the order of their texts. Apart where two bind the same name. */
export function joinTests(path: string, texts: readonly string[]): Joined {
  const different = [...new Set(texts)].toSorted()
  const [only = ''] = different
  if (different.length < 2) return { kind: 'joined', text: only }
  if (!takesTests(path)) return { kind: 'apart', reason: 'it is no file of tests' }
  const parts = different.map((text) => readTestText(path, text))
  const reason = reasonApart(path, parts)
  if (reason !== undefined) return { kind: 'apart', reason }
  const [{ preamble, setup } = readTestText(path, only)] = parts
  const blocks = importBlocks(path, parts, setup)
  const bodies = parts.map(({ body }) => body.trim()).toSorted()
  const gap = isPython(path) ? '\n\n\n' : '\n\n'
  const head = `${preamble.trimStart()}${blocks.join('\n\n')}`
  return { kind: 'joined', text: `${[head, ...bodies].filter((part) => part !== '').join(gap)}\n` }
}

/** Joins what several sets insert at one place where that is imports, or names in a list of them. Other edits stay. */
export function joinImports(path: string, edits: readonly Edit[]): Edit[] {
  const places = Map.groupBy(edits, (edit) => (edit.start === edit.end ? `${edit.start}` : edit))
  return [...places.values()].flatMap((together) => {
    const [first, ...more] = together
    const texts = together.map((edit) => edit.text)
    const text = more.length === 0 ? undefined : importsOf(path, texts)
    return first === undefined || text === undefined ? together : { ...first, text }
  })
}

/** Undefined for texts that are something else. */
function importsOf(path: string, texts: readonly string[]): string | undefined {
  const names = texts.map((text) => /^(?:(,\s+)[\w$]+)+$/.exec(text)?.[1])
  if (names.every((separator) => separator !== undefined)) {
    const all = new Set(texts.flatMap((text) => text.match(/[\w$]+/g) ?? []))
    return inOrder([...all])
      .map((name) => `${names[0]}${name}`)
      .join('')
  }
  // They begin a block of their own.
  const gap = texts.every((text) => text.startsWith('\n')) ? '\n' : ''
  const parts = texts.map((text) => readTestText(path, text.slice(gap.length)))
  if (parts.some(({ preamble, setup, body, imports }) => `${preamble}${setup}${body}` !== '' || imports.length === 0))
    return undefined
  return `${gap}${importBlocks(path, parts, '').join('\n')}\n`
}

function reasonApart(path: string, parts: readonly TestText[]): string | undefined {
  const strayImport = isPython(path) ? /^(?:import|from) /m : /^import\b|^(?:const|let|var) [^\n]*\brequire\(/m
  if (parts.some(({ body }) => strayImport.test(body))) return 'one of them imports after its first statement'
  if (new Set(parts.map(({ preamble }) => preamble.trim())).size > 1) return 'they begin in different ways'
  if (new Set(parts.map(({ setup }) => setup)).size > 1) return 'they find their modules in different ways'
  const binders = new Map<string, string>()
  for (const [at, { imports, body }] of parts.entries()) {
    const bound = imports.flatMap((line) => boundBy(line).map((name) => [name, sourceOf(line)]))
    for (const [name = '', by = ''] of [...bound, ...namesInBody(path, body).map((bodyName) => [bodyName, `${at}`])]) {
      if ((binders.get(name) ?? by) !== by) return `two of them have the name ${name}`
      binders.set(name, by)
    }
  }
  return undefined
}

/** Names what an import binds from: `import os` and `import os.path` bind the same. */
function sourceOf({ open, names, module }: ImportLine): string {
  if (names.length > 0) return `names of ${module}`
  return /^import [\w.]+$/.test(open) ? `import ${module.split('.')[0]}` : open
}

function importBlocks(path: string, parts: readonly TestText[], setup: string): string[] {
  const merged = new Map<string, { line: ImportLine; isOwn: boolean }>()
  for (const { imports } of parts) {
    const last = imports.at(-1)?.block
    for (const line of imports) {
      const key = JSON.stringify([line.open, line.close])
      const before = merged.get(key)
      const names = inOrder([...new Set([...(before?.line.names ?? []), ...line.names])])
      const isAfterSetup = line.isAfterSetup && (before?.line.isAfterSetup ?? true)
      // Linters and people have the modules under test last.
      const isOwn = line.block === last && (before?.isOwn ?? true)
      merged.set(key, { line: { ...line, names, isAfterSetup }, isOwn })
    }
  }
  const all = [...merged.values()].toSorted((left, right) => compare(sortKey(left.line), sortKey(right.line)))
  const blocksOf = (some: typeof all) => {
    const sections = Map.groupBy(some, (line) => sectionOf(path, line))
    const texts = [...sections]
      .toSorted(([left], [right]) => left - right)
      .map(([, lines]) => lines.map(({ line }) => importText(line)).join('\n'))
    return isPython(path) || parts.some(({ imports }) => (imports.at(-1)?.block ?? 0) > 0) ? texts : [texts.join('\n')]
  }
  if (setup === '') return blocksOf(all)
  const [after = [], before = []] = [true, false].map((is) => all.filter(({ line }) => line.isAfterSetup === is))
  return [...blocksOf(before), setup.trim(), ...blocksOf(after)]
}

/** The place of an import among the others: the standard library's first, the repository's own last. */
export function sectionOf(
  path: string,
  { line: { module }, isOwn }: { line: Pick<ImportLine, 'module'>; isOwn: boolean },
): number {
  if (!isPython(path)) return module.startsWith('.') ? 3 : 1
  if (module === '__future__') return 0
  if (isStandardModule(module)) return 1
  return isOwn || module.startsWith('.') ? 3 : 2
}

function sortKey({ open, module }: ImportLine): string[] {
  return [open.startsWith('from ') ? '1' : '0', module.toLowerCase(), open]
}

/** Sorts names as isort does: constants, then classes, then the others. */
function inOrder(names: readonly string[]): string[] {
  const kind = (name: string) => (/^[A-Z][A-Z\d_]+$/.test(name) ? '0' : /^[A-Z]/.test(name) ? '1' : '2')
  return names.toSorted((left, right) =>
    compare([kind(left), left.toLowerCase(), left], [kind(right), right.toLowerCase(), right]),
  )
}

function compare(left: readonly string[], right: readonly string[]): number {
  const at = left.findIndex((part, index) => part !== right[index])
  if (at === -1) return 0
  return (left[at] ?? '') < (right[at] ?? '') ? -1 : 1
}
