import { isMap, isScalar, LineCounter, parseDocument, type Document } from 'yaml'
import type { z } from 'zod'
import { BundleFile } from '#domain/agent-bundle.ts'
import type { BundleFault } from './bundle-fault.ts'

type Path = readonly (string | number)[]
type Place = { line: number; column: number }

export type BundleYaml = {
  file: BundleFile | undefined
  faults: BundleFault[]
  /** Where the value at `path` stands; for one that is not there, the nearest thing around it. */
  placeOf(path: Path): Place
  /** Where line `line`, column `column` of the text at `path` stands in the file. */
  placeInText(path: Path, at: Place): Place
}

/** Reads `bundle.yaml`. What is wrong is in `faults`, never thrown. */
export function readBundleYaml(path: string, source: string): BundleYaml {
  const lines = new LineCounter()
  const document = parseDocument(source, { lineCounter: lines })
  const placeOf = (at: Path): Place => place(lines, offsetOf(document, at))
  const fault = (at: Place, message: string): BundleFault => ({ file: path, ...at, code: 'AGENT_001', message })
  const placeInText = (at: Path, inside: Place): Place => textPlace(document, source, placeOf(at), at, inside)
  const failed = (faults: BundleFault[]): BundleYaml => ({ file: undefined, faults, placeOf, placeInText })
  if (document.errors.length > 0) {
    return failed(document.errors.map((error) => fault(place(lines, error.pos[0]), error.message.split('\n')[0] ?? '')))
  }
  const parsed = BundleFile.safeParse(document.toJS({ maxAliasCount: 50 }))
  if (parsed.success) return { file: parsed.data, faults: [], placeOf, placeInText }
  return failed(parsed.error.issues.flatMap(plainIssues).map(({ at, message }) => fault(placeOf(at), message)))
}

/** One fault per wrong key, and of a union the alternative that comes nearest. */
function plainIssues(issue: z.core.$ZodIssue): { at: Path; message: string }[] {
  const at = issue.path.filter((key) => typeof key !== 'symbol')
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ at: [...at, key], message: `unknown key ${[...at, key].join('.')}` }))
  }
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const nearest = issue.errors.reduce((least, other) => (other.length < least.length ? other : least))
    return nearest.flatMap((inner) => plainIssues({ ...inner, path: [...issue.path, ...inner.path] }))
  }
  return [{ at, message: `${at.join('.') || 'the bundle'}: ${issue.message}` }]
}

function place(lines: LineCounter, offset: number): Place {
  const { line, col } = lines.linePos(offset)
  return { line: Math.max(line, 1), column: Math.max(col, 1) }
}

function offsetOf(document: Document, path: Path): number {
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
function textPlace(document: Document, source: string, key: Place, path: Path, inside: Place): Place {
  const node = document.getIn(path, true)
  if (!isScalar(node) || !String(node.type).startsWith('BLOCK')) return key
  const first = source.split('\n')[key.line] ?? ''
  const indent = first.length - first.trimStart().length
  return { line: key.line + inside.line, column: indent + inside.column }
}
