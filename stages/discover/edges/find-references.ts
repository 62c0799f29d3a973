import type { QueryMatch } from 'web-tree-sitter'
import { z } from 'zod'

/**
 * Is a reference of one file to another, or to a name in it, by this file alone. An `import` without a module
 * gives one of the file's own names another name (`alias`); the name `''` stands for the module itself and `'*'` for everything
 * in it. A `local` is a name that is bound in the node `from`; the name `'()'` stands for the result of calling the node.
 */
export const Reference = z.strictObject({
  kind: z.enum(['import', 'call', 'inherits', 'local']),
  /** Index of the innermost enclosing node in the blob's node index. */
  from: z.int().min(0),
  name: z.string(),
  module: z.string().optional(),
  alias: z.string().optional(),
  /** The receiver of a method call, as a path: `self.items`, `make().items`; `?` is anything else. */
  receiver: z.string().optional(),
  /** The declared type of a name, and the expression assigned to it, as paths. */
  type: z.string().optional(),
  value: z.string().optional(),
})
export type Reference = z.infer<typeof Reference>

/** Is a reference before its node is known: `at` is its index in the text, in UTF-16 units. */
export type FoundReference = Omit<Reference, 'from'> & { at: number }

type Capture = { kind: Reference['kind']; part: string }

/** The capture names of references.scm, parsed; null for a name that is not used. */
const captureNames = new Map<string, Capture | null>()

export function findReferences(matches: readonly QueryMatch[], text: string): FoundReference[] {
  return matches.flatMap((match) => referenceOf(match, text) ?? [])
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
    ...(module !== undefined && { module: module.replace(/\s+/g, '') }),
    ...(alias !== undefined && { alias }),
    ...(receiver !== undefined && { receiver: expressionPath(receiver) }),
    ...(typed !== undefined && { type: typed }),
    ...(given !== noPath && { value: given }),
  }
}

function captureOf(name: string): Capture | null {
  const known = captureNames.get(name)
  if (known !== undefined) return known
  const [of = '', part = ''] = name.split('.')
  const kind = Reference.shape.kind.options.find((option) => option === of)
  const capture = kind === undefined ? null : { kind, part }
  captureNames.set(name, capture)
  return capture
}

const longestText = 300

export const noPath = '?'

const plainName = /^[A-Za-z_]\w*$/
const callArguments = /\((?:[^()"'`]|"[^"\n]*"|'[^'\n]*')*\)/g
const pathForm =
  /^[\p{ID_Start}_$@#][\p{ID_Continue}$]*(?:\(\))?(?:\.#?[\p{ID_Start}_$][\p{ID_Continue}$]*(?:\(\))?)*$/u

/**
 * An expression as names joined by dots, a called one followed by `()`: `a.b().c`. An expression that creates a value
 * of a type counts as a call of the type (`new A(1)`, `&A{…}`). `?` for everything else.
 */
function expressionPath(text: string): string {
  if (plainName.test(text)) return text
  if (text.length > longestText) return literalPath(text)
  let plain = text.replace(/^\(?(?:await|new|yield|yield from)\s+/, '').trim()
  for (let before = ''; before !== plain;) {
    before = plain
    plain = plain.replace(callArguments, (match) => (match === '()' ? match : '\u0001'))
  }
  plain = plain.replaceAll('\u0001', '()').replace(/\s*[?!]?\.\s*/g, '.')
  return pathForm.test(plain) ? plain : literalPath(text)
}

/** Reads the type of Go's `&Server{…}`. */
function literalPath(text: string): string {
  const type = /^&?([\w.]+)(?:\[[^\]]*\])?\{/.exec(text)?.[1]
  return type !== undefined && text.endsWith('}') && pathForm.test(type) ? `${type}()` : noPath
}

/** Types that say nothing about what they contain. */
const anything = new Set(['any', 'unknown', 'object', 'Any', 'typing.Any'])

/** The named type of an annotation, without pointers, quotes, type arguments, and `None`, `null` or an error. */
function typePath(text: string): string | undefined {
  if (text.length > longestText) return undefined
  let plain = text.trim().replace(/^["']|["']$/g, '')
  plain = plain.replace(/^(?:\w+\.)?Optional\[(.*)\]$/s, '$1').replace(/^Promise<(.*)>$/s, '$1')
  plain = plain.replace(/\s*\|\s*(?:None|null|undefined)\b/g, '').replace(/^\((.*?),\s*error\)$/s, '$1')
  plain = plain.replace(/^[*&]+/, '').replace(/(?:<.*>|\[.+\])$/s, '')
  return pathForm.test(plain) && !plain.includes('(') && !anything.has(plain) ? plain : undefined
}

/** Assigns references to their innermost definitions, which are in source order, and merges repeats. Unused names are left out. */
export function placeReferences(
  found: readonly FoundReference[],
  definitions: readonly { start: number; end: number; parent: number | null }[],
): Reference[] {
  const mentioned = namesIn(found)
  const placed = new Map<string, Reference>()
  let next = 0
  let inner = -1
  for (const reference of withoutRepeats(found)) {
    const { at, kind, name, module, alias, receiver, type, value } = reference
    while ((definitions[next]?.start ?? Infinity) <= at) inner = next++
    while (inner >= 0 && (definitions[inner]?.end ?? 0) <= at) inner = definitions[inner]?.parent ?? -1
    if (kind === 'local' && !isUsed(reference, mentioned)) continue
    // `export default` is inside what it exports, but belongs to the file.
    const from = kind === 'import' && module === undefined ? 0 : inner + 1
    const key = `${from}\0${kind}\0${name}\0${module}\0${alias}\0${receiver}\0${type}\0${value}`
    const { at: _, ...rest } = reference
    if (!placed.has(key)) placed.set(key, { ...rest, from })
  }
  return [...placed.values()]
}

/** Keeps one reference for each name, in source order. Several patterns may match one name; the match with the most fields counts. */
function withoutRepeats(references: readonly FoundReference[]): FoundReference[] {
  const kept: FoundReference[] = []
  for (const reference of references.toSorted((left, right) => left.at - right.at)) {
    const { at, kind, name } = reference
    const repeated = kept.findLastIndex((other) => other.at < at || (other.kind === kind && other.name === name))
    const known = kept[repeated]
    if (known?.at !== at) kept.push(reference)
    else if (Object.keys(reference).length > Object.keys(known).length) kept[repeated] = reference
  }
  return kept
}

function namesIn(references: readonly FoundReference[]): Set<string> {
  const paths = new Set<string>()
  for (const { kind, name, receiver, type, value } of references) {
    if (kind !== 'local') paths.add(name)
    for (const path of [receiver, type, value]) if (path !== undefined) paths.add(path)
  }
  return new Set([...paths].flatMap((path) => path.split(/[.()]+/)))
}

function isUsed({ name, type, value }: FoundReference, mentioned: ReadonlySet<string>): boolean {
  if (name !== '()' && !name.includes('.')) return mentioned.has(name)
  const last = name.slice(name.lastIndexOf('.') + 1)
  return (type ?? value) !== undefined && (name === '()' || mentioned.has(last))
}
