import { sectionOf } from '#change-sets/join-tests.ts'
import { boundBy, type ImportLine, importText, isPython, readTestText, type TestText } from '#change-sets/test-text.ts'
import { mainGuard } from '#stages/operate/tools/tests/shape-tests.ts'

/** Adds tests at the end, before a call of `unittest.main()`, and the names that they need to the imports. Nothing else changes. */
export function extendTests(path: string, base: string, added: string): string {
  const file = readTestText(path, base)
  const { imports, body } = readTestText(path, added)
  const atEnd = isPython(path) ? (mainGuard.exec(base)?.index ?? base.length) : base.length
  const blank = isPython(path) ? 3 : 2
  const isLast = atEnd === base.length
  const before = '\n'.repeat(Math.max(0, blank - newlinesBefore(base, atEnd)))
  const block = isLast ? `${before}${body.trim()}\n` : `${body.trim()}\n\n\n`
  const last = imports.at(-1)?.block
  const insertions = [{ at: atEnd, text: block }, ...importInsertions(path, base, file, { imports, last })]
  const endings = (text: string) => (base.includes('\r\n') ? text.replaceAll('\n', '\r\n') : text)
  let result = base
  for (const { at, text } of insertions.toSorted((left, right) => right.at - left.at))
    result = result.slice(0, at) + endings(text) + result.slice(at)
  return result
}

function newlinesBefore(text: string, at: number): number {
  const end = text.slice(text.slice(0, at).trimEnd().length, at)
  return end.split('\n').length - 1
}

type Insertion = { at: number; text: string }

function importInsertions(
  path: string,
  base: string,
  { imports: there, preamble }: TestText,
  { imports, last }: { imports: readonly ImportLine[]; last: number | undefined },
): Insertion[] {
  const lastThere = there.at(-1)?.block
  // A name that the file has from elsewhere, as from the package that exports it, is taken for the same: running the tests shows it.
  const bound = new Set(there.flatMap(boundBy))
  const lines = new Map<number, string[]>()
  const insertions: Insertion[] = []
  for (const line of imports) {
    if (boundBy(line).every((name) => bound.has(name))) continue
    const same = there.filter(
      ({ open, close }) => open === line.open && (isPython(path) || quoteless(close) === quoteless(line.close)),
    )
    const missing = line.names.filter((_, at) => !bound.has(boundBy(line)[at] ?? ''))
    const [list] = same
    const inserted = list && namesInserted(base, list, missing)
    if (inserted !== undefined) {
      insertions.push(inserted)
      continue
    }
    const section = sectionOf(path, { line, isOwn: line.block === last })
    const beside = there.filter(
      (known) => sectionOf(path, { line: known, isOwn: known.block === lastThere }) === section,
    )
    const at = (beside.at(-1) ?? there.at(-1))?.end ?? preamble.length
    const gap = isPython(path) && beside.length === 0 && there.length > 0 && !lines.has(at) ? '\n' : ''
    lines.set(at, [...(lines.get(at) ?? []), `${gap}${importText({ ...line, names: missing })}\n`])
  }
  return [...insertions, ...Array.from(lines, ([at, texts]) => ({ at, text: texts.join('') }))]
}

function quoteless(text: string): string {
  return text.replaceAll(/['";]/g, '')
}

const longestLine = 79

function namesInserted(base: string, { start, end }: ImportLine, names: readonly string[]): Insertion | undefined {
  const line = base.slice(start, end)
  const bracket = line.search(/[)}]/)
  const list = bracket === -1 ? (line.split('#')[0] ?? line).trimEnd() : line.slice(0, bracket)
  const at = list.trimEnd().replace(/,$/, '').trimEnd().length
  if (/\n/.test(list))
    return { at: start + at, text: names.map((name) => `,\n${/\n([ \t]*)\w/.exec(list)?.[1] ?? ''}${name}`).join('') }
  const text = names.map((name) => `, ${name}`).join('')
  return line.trimEnd().length + text.length > longestLine ? undefined : { at: start + at, text }
}
