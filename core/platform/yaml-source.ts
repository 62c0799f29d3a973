import { isMap, isScalar, LineCounter, parseDocument, type Document } from 'yaml'

export type YamlPath = readonly (string | number)[]
/** Both from 1. */
export type Place = { line: number; column: number }

export type YamlSource = {
  /** Undefined when it is not YAML, null when it is empty. */
  value: unknown
  faults: { at: Place; message: string }[]
  /** The position of the value at `path`; for a missing one, of the nearest value around it. */
  placeOf(path: YamlPath): Place
  /** The position in the file of line `line`, column `column` of the text at `path`. */
  placeInText(path: YamlPath, at: Place): Place
}

/** Reads one YAML document. Mistakes are in `faults`, never thrown. */
export function readYaml(source: string): YamlSource {
  const lines = new LineCounter()
  const document = parseDocument(source, { lineCounter: lines })
  const placeOf = (at: YamlPath): Place => place(lines, offsetOf(document, at))
  const faults = document.errors.map((error) => ({
    at: place(lines, error.pos[0]),
    message: (error.message.split('\n')[0] ?? '').replace(/ at line \d+, column \d+:?$/, ''),
  }))
  const value = faults.length === 0 ? valueOf(document) : undefined
  if (value instanceof Error) faults.push({ at: { line: 1, column: 1 }, message: value.message })
  return {
    value: value instanceof Error ? undefined : value,
    faults,
    placeOf,
    placeInText: (at, inside) => textPlace(document, source, placeOf(at), at, inside),
  }
}

/** Aliases that expand to too much are found only here. */
function valueOf(document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: 50 })
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
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

/** A block scalar's text starts on the line under its key, indented; any other on the key's own line. */
function textPlace(document: Document, source: string, key: Place, path: YamlPath, inside: Place): Place {
  const node = document.getIn(path, true)
  if (!isScalar(node) || !String(node.type).startsWith('BLOCK')) return key
  const first = source.split('\n')[key.line] ?? ''
  const indent = first.length - first.trimStart().length
  return { line: key.line + inside.line, column: indent + inside.column }
}
