import type { QueryMatch } from 'web-tree-sitter'
import { expressionPath, noPath, typePath } from './expression-path.ts'
import type { Reference } from './reference.ts'

/** A reference before it is placed: `at` is its index in the text, in UTF-16 units. */
export type FoundReference = Omit<Reference, 'from'> & { at: number }

type Capture = { kind: Reference['kind']; part: string }

const kinds: Readonly<Record<string, Reference['kind']>> = {
  import: 'import',
  call: 'call',
  inherits: 'inherits',
  local: 'local',
}
/** What the captures of references.scm are called, taken apart; null for one that says nothing. */
const captureNames = new Map<string, Capture | null>()

/** The references of the matches, in their order. */
export function findReferences(matches: readonly QueryMatch[], text: string): FoundReference[] {
  const found: FoundReference[] = []
  for (const match of matches) {
    const reference = referenceOf(match, text)
    if (reference !== undefined) found.push(reference)
  }
  return found
}

function referenceOf({ captures, setProperties }: QueryMatch, text: string): FoundReference | undefined {
  const parts: Record<string, string> = {}
  let kind: Reference['kind'] | undefined
  let at = 0
  for (const { name, node } of captures) {
    const capture = captureOf(name)
    if (capture === null) continue
    kind ??= capture.kind
    if (at === 0 || capture.part === 'name') at = node.startIndex
    parts[capture.part] = text.slice(node.startIndex, node.endIndex)
  }
  if (kind === undefined) return undefined
  const { module, type, value, receiver } = parts
  const name = parts['name'] ?? setProperties?.['name'] ?? ''
  const alias = parts['alias'] ?? setProperties?.['alias'] ?? undefined
  const typed = type === undefined ? undefined : typePath(type)
  const given = value === undefined ? noPath : expressionPath(value)
  return {
    kind,
    at,
    name: kind === 'inherits' || kind === 'local' ? name.replace(/\s+/g, '') : name,
    ...(module === undefined ? {} : { module: module.replace(/\s+/g, '') }),
    ...(alias === undefined || alias === null ? {} : { alias }),
    ...(receiver === undefined ? {} : { receiver: expressionPath(receiver) }),
    ...(typed === undefined ? {} : { type: typed }),
    ...(given === noPath ? {} : { value: given }),
  }
}

function captureOf(name: string): Capture | null {
  const known = captureNames.get(name)
  if (known !== undefined) return known
  const [of = '', part = ''] = name.split('.')
  const kind = Object.hasOwn(kinds, of) ? kinds[of] : undefined
  const capture = kind === undefined ? null : { kind, part }
  captureNames.set(name, capture)
  return capture
}
