import { isMap, isScalar, LineCounter, parseDocument, visit, type Document } from 'yaml'

export type YamlPath = readonly (string | number)[]
/** Both count from 1. */
export type Place = { line: number; column: number }

export type YamlSource = {
  /** Is undefined when it is not YAML, null when it is empty. */
  value: unknown
  faults: { at: Place; message: string }[]
  /** Returns the position of the value at `path`; for a missing one, of the nearest value around it. */
  placeOf(path: YamlPath): Place
  /** Returns the position in the file of line `line`, column `column` of the text at `path`. */
  placeInText(path: YamlPath, at: Place): Place
}

/** A larger text is refused before it is parsed: the worst known of this size takes about half a second of one core. */
export const maxYamlBytes = 64 * 1024

/** A text has at most so many faults that are described; the last one says how many more there are. */
const maxFaults = 20

/** Reads one YAML document of at most `maxYamlBytes`. Mistakes are in `faults`, never thrown. */
export function readYaml(source: string): YamlSource {
  const size = Buffer.byteLength(source)
  const lines = new LineCounter()
  const document = parsed(size > maxYamlBytes ? '' : source, lines)
  const placeOf = (at: YamlPath): Place => place(lines, offsetOf(document, at))
  const read = size > maxYamlBytes ? tooLarge(size) : readDocument(document)
  const faults = firstFaults(
    read.faults,
    ({ offset, message }) => ({ at: place(lines, offset), message }),
    (more, { offset }) => ({ at: place(lines, offset), message: `and ${more} more faults` }),
  )
  return {
    value: read.value,
    faults,
    placeOf,
    placeInText: (at, inside) => textPlace(document, source, placeOf(at), at, inside),
  }
}

type RawFault = { offset: number; message: string }
type Read = { value: unknown; faults: RawFault[] }

function tooLarge(size: number): Read {
  return {
    value: undefined,
    faults: [{ offset: 0, message: `it has ${size} bytes, and at most ${maxYamlBytes} are read` }],
  }
}

/** Bounds the aliases: what they stand for is looked up, and may be large, while the parser itself limits only how much they expand to. */
const maxAliases = 50

/** Aliases that expand to too much, and what is nested too deeply for the stack, are found only when the value is made. */
function readDocument(document: Document.Parsed): Read {
  if (document.errors.length > 0) {
    return { value: undefined, faults: document.errors.map(({ pos: [offset], message }) => ({ offset, message })) }
  }
  try {
    const faults = faultsWithin(document)
    return { value: faults.length > 0 ? undefined : document.toJS({ maxAliasCount: maxAliases }), faults }
  } catch (error) {
    return {
      value: undefined,
      faults: [{ offset: 0, message: error instanceof Error ? error.message : String(error) }],
    }
  }
}

/** Describes the first `maxFaults`, so that a text that is wrong everywhere costs no more than one that is wrong in places. */
export function firstFaults<Fault, Described>(
  faults: readonly Fault[],
  describe: (fault: Fault) => Described,
  describeRest: (more: number, next: Fault) => Described,
): Described[] {
  const described = faults.slice(0, maxFaults).map(describe)
  const next = faults[maxFaults]
  return next === undefined ? described : [...described, describeRest(faults.length - maxFaults, next)]
}

/** Stack traces and excerpts would be most of the parser's work, and its search for repeated keys compares each with all before it. */
function parsed(source: string, lineCounter: LineCounter): Document.Parsed {
  const { stackTraceLimit } = Error
  try {
    Error.stackTraceLimit = 0
    return parseDocument(source, { lineCounter, prettyErrors: false, uniqueKeys: false, logLevel: 'silent' })
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

function faultsWithin(document: Document.Parsed): RawFault[] {
  const faults: RawFault[] = []
  let aliases = 0
  visit(document, {
    Alias(_, { range }) {
      if (++aliases <= maxAliases) return undefined
      faults.push({ offset: range?.[0] ?? 0, message: `it has more than ${maxAliases} aliases` })
      return visit.BREAK
    },
    Map(_, map) {
      const known = new Set<unknown>()
      for (const { key } of map.items) {
        if (!isScalar(key)) continue
        if (known.has(key.value)) faults.push({ offset: key.range?.[0] ?? 0, message: 'Map keys must be unique' })
        known.add(key.value)
      }
    },
  })
  return faults
}

function place(lines: LineCounter, offset: number): Place {
  const { line, col } = lines.linePos(offset)
  return { line: Math.max(line, 1), column: Math.max(col, 1) }
}

function offsetOf(document: Document, path: YamlPath): number {
  const parent = path.length <= 1 ? document.contents : document.getIn(path.slice(0, -1), true)
  const last = path.at(-1)
  const pair = isMap(parent) ? parent.items.find(({ key }) => isScalar(key) && key.value === last) : undefined
  if (isScalar(pair?.key) && pair.key.range) return pair.key.range[0]
  const node = path.length === 0 ? document.contents : document.getIn(path, true)
  const range = typeof node === 'object' && node !== null && 'range' in node ? node.range : undefined
  if (Array.isArray(range) && typeof range[0] === 'number') return range[0]
  return path.length === 0 ? 0 : offsetOf(document, path.slice(0, -1))
}

function textPlace(document: Document, source: string, key: Place, path: YamlPath, inside: Place): Place {
  const node = document.getIn(path, true)
  if (!isScalar(node) || !String(node.type).startsWith('BLOCK')) return key
  const first = source.split('\n')[key.line] ?? ''
  const indent = first.length - first.trimStart().length
  return { line: key.line + inside.line, column: indent + inside.column }
}
