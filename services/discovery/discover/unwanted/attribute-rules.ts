import { basename } from 'node:path/posix'
import { folderOf } from '#domain/repo-path.ts'
import {
  matchesSegment,
  matchesSegments,
  parseSegmentGlob,
  type PathGlob,
  type SegmentGlob,
  star,
} from '#domain/path-globs.ts'
import { getOrMake } from '#platform/cached-answers.ts'

type AttributeValue = true | false | string | undefined

/** The attributes that the .gitattributes files set for one file; others are not in it. */
export type Attributes = ReadonlyMap<string, AttributeValue>

type Macros = Map<string, readonly Assignment[]>
type Assignment = readonly [name: string, value: AttributeValue]

/** Of a name alone, at any level; or of a path below the rule's folder. */
type Pattern = { kind: 'name'; matches(name: string): boolean } | { kind: 'path'; glob: PathGlob }
type AttributeRule = { pattern: Pattern; assignments: readonly Assignment[] }

/** The rules of one .gitattributes file, the last line first. `folder` is '' at the top of the tree. */
type AttributeLayer = { folder: string; rules: readonly AttributeRule[] }

export type AttributesFile = { folder: string; text: string }

export type AttributeRules = {
  attributesOf(path: string): Attributes
  /** Whether any rule sets the attribute to this value; if none does, no file has to be looked up. */
  everSets(name: string, isWanted: (value: AttributeValue) => boolean): boolean
}

/** The attributes that discovery uses. Rules that set none of them are dropped. */
const known: ReadonlySet<string> = new Set([
  'linguist-vendored',
  'linguist-generated',
  'diff',
  'filter',
  'ident',
  'working-tree-encoding',
  'export-subst',
])

/** As git does, longer lines are not read. */
const maxLineBytes = 2048
const nothing: Attributes = new Map()

/**
 * Reads the .gitattributes files of a tree as in gitattributes(5): within a file the last matching line decides, the
 * file in the nearest folder comes first, a pattern that names a folder does not apply to its contents, and macros
 * count where the outermost files define them.
 */
export function readAttributeRules(files: readonly AttributesFile[]): AttributeRules {
  const outermost = Math.min(...files.map(({ folder }) => depthOf(folder)))
  const macros: Macros = new Map([['binary', [['diff', false]]]])
  for (const { folder, text } of files) if (depthOf(folder) === outermost) readMacros(text, macros)
  const layers = new Map<string, AttributeLayer>()
  for (const { folder, text } of files) {
    const rules = readRules(text, macros)
    if (rules.length > 0) layers.set(folder, { folder, rules })
  }
  const layersOf = layerFinder(layers)
  return {
    attributesOf: (path) => (layers.size === 0 ? nothing : lookUp(path, layersOf(folderOf(path)))),
    everSets(name, isWanted) {
      const all = layers.values().flatMap(({ rules }) => rules.flatMap(({ assignments }) => assignments))
      return all.some(([one, value]) => one === name && isWanted(value))
    },
  }
}

/** The layers that apply to a folder's files, the nearest first; found once for each folder. */
function layerFinder(layers: ReadonlyMap<string, AttributeLayer>): (folder: string) => readonly AttributeLayer[] {
  const found = new Map<string, readonly AttributeLayer[]>()
  return function find(folder: string): readonly AttributeLayer[] {
    const own = layers.get(folder) ?? []
    return getOrMake(found, folder, () => [own, folder === '' ? [] : find(folderOf(folder))].flat())
  }
}

function lookUp(path: string, layers: readonly AttributeLayer[]): Attributes {
  if (layers.length === 0) return nothing
  const attributes = new Map<string, AttributeValue>()
  for (const { folder, rules } of layers) {
    const inside = folder === '' ? path : path.slice(folder.length + 1)
    for (const { pattern, assignments } of rules) {
      if (!matches(pattern, inside)) continue
      for (const [name, value] of assignments) if (!attributes.has(name)) attributes.set(name, value)
    }
  }
  return attributes
}

function matches(pattern: Pattern, inside: string): boolean {
  return pattern.kind === 'name' ? pattern.matches(basename(inside)) : matchesSegments(pattern.glob, inside.split('/'))
}

function readMacros(text: string, macros: Macros): void {
  for (const line of text.split('\n')) {
    const [, name, said] = /^\[attr\](\S+)\s+(.*)$/.exec(line.trim()) ?? []
    if (name !== undefined && said !== undefined) macros.set(name, readAssignments(said, macros))
  }
}

function readRules(text: string, macros: Macros): AttributeRule[] {
  const rules: AttributeRule[] = []
  for (const line of text.split('\n')) {
    const [, quoted, plain, said] = /^\s*(?:"((?:[^"\\]|\\.)*)"|([^\s"#]\S*))\s+(.*)$/.exec(line) ?? []
    if (said === undefined || Buffer.byteLength(line) >= maxLineBytes) continue
    const source = quoted === undefined ? (plain ?? '') : unquoted(quoted)
    // Git takes no pattern that leaves something out, and a macro is no pattern.
    if (source.startsWith('!') || source.startsWith('[attr]') || source.endsWith('/')) continue
    const assignments = readAssignments(said, macros).filter(([name]) => known.has(name))
    if (assignments.length > 0) rules.push({ pattern: readPattern(source), assignments })
  }
  return rules.toReversed()
}

/** The deciding rule for an attribute comes first; those of a macro follow it. */
function readAssignments(said: string, macros: Macros): Assignment[] {
  return said
    .split(/\s+/)
    .filter((word) => word !== '')
    .toReversed()
    .flatMap((word) => {
      const [name, value] = readAssignment(word)
      const expanded = value === true ? (macros.get(name) ?? []) : []
      return [[name, value] as const, ...expanded]
    })
}

/** Linguist writes `linguist-vendored=false` for unset, and `=true` for set. */
function readAssignment(word: string): Assignment {
  if (word.startsWith('-')) return [word.slice(1), false]
  if (word.startsWith('!')) return [word.slice(1), undefined]
  const [name = '', ...values] = word.split('=')
  if (values.length === 0) return [name, true]
  const value = values.join('=')
  if (!name.startsWith('linguist-')) return [name, value]
  return [name, value !== 'false' && value !== '0']
}

function readPattern(source: string): Pattern {
  if (!source.includes('/')) return { kind: 'name', matches: nameMatcher(parseSegmentGlob(source)) }
  const segments = source.split('/').filter((segment) => segment !== '')
  // What ends in `/**` matches everything inside a folder, not the folder's own name.
  const all = segments.at(-1) === '**' ? [...segments, '*'] : segments
  return { kind: 'path', glob: all.map((segment) => (segment === '**' ? star : parseSegmentGlob(segment))) }
}

/** Most patterns are `*.py` or plain names, and every file is tested against them. */
function nameMatcher(glob: SegmentGlob): (name: string) => boolean {
  const [first, second, ...more] = glob.parts
  if (typeof first === 'string' && second === undefined) return (name) => name === first
  if (first === star && typeof second === 'string' && more.length === 0) return (name) => name.endsWith(second)
  return (name) => matchesSegment(glob, name)
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '"': '"', '\\': '\\' }

/** A pattern in double quotes, with C's escapes; a backslash before anything else stays, for the glob. */
function unquoted(text: string): string {
  return text.replaceAll(/\\(.)/g, (whole, character: string) => escapes[character] ?? whole)
}

function depthOf(folder: string): number {
  return folder === '' ? 0 : folder.split('/').length
}
