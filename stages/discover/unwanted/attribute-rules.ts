import { folderOf } from '#domain/repo-path.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { type GitPattern, gitPattern } from '#platform/git-pattern.ts'

type AttributeValue = true | false | string | undefined

/** Holds the attributes that the .gitattributes files set for one file; others are not in it. */
export type Attributes = ReadonlyMap<string, AttributeValue>

type Macros = Map<string, readonly Assignment[]>
type Assignment = readonly [name: string, value: AttributeValue]

type AttributeRule = { matches: GitPattern; assignments: readonly Assignment[] }

/** Holds the rules of one .gitattributes file, the last line first. `folder` is '' at the top of the tree. */
type AttributeLayer = { folder: string; rules: readonly AttributeRule[] }

type AttributesFile = { folder: string; text: string }

export type AttributeRules = {
  attributesOf(path: string): Attributes
  /** Is true when any rule sets the attribute to such a value; if none does, no file has to be looked up. */
  everSets(name: string, isWanted: (value: AttributeValue) => boolean): boolean
}

/** Lists the attributes that discovery uses. Rules that set none of them are dropped. */
const usedAttributes: ReadonlySet<string> = new Set(
  'linguist-vendored linguist-generated diff filter ident working-tree-encoding export-subst'.split(' '),
)

/** Lines beyond this are not read, as git does not read them. */
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
      return all.some(([attribute, value]) => attribute === name && isWanted(value))
    },
  }
}

function layerFinder(layers: ReadonlyMap<string, AttributeLayer>): (folder: string) => readonly AttributeLayer[] {
  const known = new Map<string, readonly AttributeLayer[]>()
  return function find(folder: string): readonly AttributeLayer[] {
    const own = layers.get(folder) ?? []
    return getOrMake(known, folder, () => [own, folder === '' ? [] : find(folderOf(folder))].flat())
  }
}

function lookUp(path: string, layers: readonly AttributeLayer[]): Attributes {
  if (layers.length === 0) return nothing
  const attributes = new Map<string, AttributeValue>()
  for (const { folder, rules } of layers) {
    const inside = (folder === '' ? path : path.slice(folder.length + 1)).split('/')
    for (const { matches, assignments } of rules) {
      if (!matches(inside)) continue
      for (const [name, value] of assignments) if (!attributes.has(name)) attributes.set(name, value)
    }
  }
  return attributes
}

function readMacros(text: string, macros: Macros): void {
  for (const line of text.split('\n')) {
    const [, name, words] = /^\[attr\](\S+)\s+(.*)$/.exec(line.trim()) ?? []
    if (name !== undefined && words !== undefined) macros.set(name, readAssignments(words, macros))
  }
}

function readRules(text: string, macros: Macros): AttributeRule[] {
  const rules: AttributeRule[] = []
  for (const line of text.split('\n')) {
    const [, quoted, plain, words] = /^\s*(?:"((?:[^"\\]|\\.)*)"|([^\s"#]\S*))\s+(.*)$/.exec(line) ?? []
    if (words === undefined || Buffer.byteLength(line) >= maxLineBytes) continue
    const source = quoted === undefined ? (plain ?? '') : unquoted(quoted)
    // Git takes no pattern that leaves something out, and a macro is no pattern.
    if (source.startsWith('!') || source.startsWith('[attr]') || source.endsWith('/')) continue
    const assignments = readAssignments(words, macros)
    if (assignments.length > 0) rules.push({ matches: gitPattern(source), assignments })
  }
  return rules.toReversed()
}

/** Returns each attribute once, with the value that decides. Macros may name macros, so that there could be any number of assignments. */
function readAssignments(words: string, macros: Macros): Assignment[] {
  const deciding = new Map<string, AttributeValue>()
  for (const word of words.split(/\s+/).toReversed()) {
    const [name, value] = readAssignment(word)
    const expanded = value === true ? (macros.get(name) ?? []) : []
    for (const [attribute, own] of [[name, value] as const, ...expanded])
      if (usedAttributes.has(attribute) && !deciding.has(attribute)) deciding.set(attribute, own)
  }
  return [...deciding]
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

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '"': '"', '\\': '\\' }

/** A pattern in double quotes, with C's escapes; a backslash before anything else stays, for the glob. */
function unquoted(text: string): string {
  return text.replaceAll(/\\(.)/g, (whole, character: string) => escapes[character] ?? whole)
}

function depthOf(folder: string): number {
  return folder === '' ? 0 : folder.split('/').length
}
