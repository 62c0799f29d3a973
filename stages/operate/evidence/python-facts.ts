import { LRUCache } from 'lru-cache'
import { type ChangedPart, readChangedParts } from '#languages/python/changed-part.ts'
import { type PythonDoc, pythonDocs } from '#languages/python/docstring-parameters.ts'
import { docstringRowsOf } from '#languages/python/python-nodes.ts'
import { type ImportedHere, type ImportFact, importFactsOf, importsIn } from '#languages/python/import-facts.ts'
import { type ModuleBindings, moduleBindingsOf } from '#languages/python/module-bindings.ts'
import { loneFillersIn, openStructureHash } from '#languages/python/python-structure.ts'
import type { LoadedLanguage } from '#languages/syntax/parser.ts'
import { type ChangedRun, changedRuns, linesOf } from '#platform/changed-ranges.ts'
import { type Evaluation, evaluationsIn, pythonEvaluations } from './evaluations.ts'
import { type KnownParts, readStatements, type Statement, type StatementList, type Token } from './statements.ts'

/** Names the file and the repository's own modules: they decide which imports must stay. */
export type ImportingFile = { path: string; ownModules: readonly string[] | undefined }

/** Holds what the checks need of one Python text, each read when first asked for. */
export type PythonFacts = {
  text: string
  list(): StatementList
  evaluations(statement: Statement): Evaluation[]
  names(): ModuleBindings
  imports(): ImportedHere[]
  importFacts(file: ImportingFile): ImportFact[]
  lines(): readonly string[]
  docstringRows(): ReadonlySet<number>
  /** Judges what is new since `before`. */
  docs(before?: readonly PythonDoc[]): PythonDoc[]
  /** A hash of its code: two texts with equal hashes run the same except for `__doc__`. */
  structure(): string
  loneFillers(): (string | undefined)[]
}

export type ComparedFacts = {
  before: PythonFacts
  after: PythonFacts
  /** They are of a part of the texts, which does not tell who uses a name. */
  isPart: boolean
  /** Tells whether they run the same except for `__doc__`: what the code alone decides is then the same. */
  isSameCode(): boolean
  pairs(): StatementPairs
  lineRuns(): ChangedRun[]
}

/**
 * Holds the facts of two texts. `inPart` gives `look` those of the statements alone in which they differ, which takes a tenth of the time: what
 * these prove is proved of the texts, and what they do not has to be asked of these. It returns undefined where there is no such part.
 */
export type ComparedTexts = ComparedFacts & { inPart<Found>(look: (part: ComparedFacts) => Found): Found | undefined }

/** Holds what the checks of statements need, of a text of any language. */
export type ComparedStatements = Pick<ComparedFacts, 'pairs'> & {
  before: Pick<PythonFacts, 'list' | 'evaluations'>
  after: Pick<PythonFacts, 'list' | 'evaluations'>
}

/** The text of a file of the tree; undefined where there is none, or no text. */
export type ReadFile = (path: string) => Promise<string | undefined>

export type PythonReader = Pick<LoadedLanguage, 'read' | 'parse'>

/** The result of a check: a fault in words for users and the model, with its line, `says` what else is to be known, and figures. */
export type CheckResult = { fault: string | undefined; says?: string | undefined; before?: number; after?: number }

/** Facts take about 27 times as much memory as their text has characters. */
const usualCachedLength = 2_000_000
const cachedTexts = 500

type OpenFacts = Omit<PythonFacts, 'list'> & ReadText

/** Facts are cached by text, since every operation on a file starts from the same one. `cachedLength` bounds all texts together. */
export function openPythonFacts(python: PythonReader, cachedLength = usualCachedLength) {
  const cache = new LRUCache<string, OpenFacts>({
    max: cachedTexts,
    maxSize: cachedLength,
    sizeCalculation: (_facts, text) => Math.min(text.length + 1, cachedLength),
  })
  const hashStructure = openStructureHash()
  const factsOf = (text: string) => {
    const read: ReadTree = (look) => python.read(text, (tree) => look({ tree, body: tree.rootNode }))
    const facts = cache.get(text) ?? readFacts(text, read, hashStructure)
    cache.set(text, facts)
    return facts
  }
  return (before: string, after: string): ComparedTexts => {
    const whole = comparedFacts(factsOf(before), factsOf(after))
    return {
      ...whole,
      inPart(look) {
        const factsIn = (part: ChangedPart, { text, lines }: PythonFacts) => ({
          ...readFacts(text, (read) => read(part), hashStructure),
          lines,
        })
        return readChangedParts(python, [before, after], (was, now) => {
          const facts = comparedFacts(factsIn(was, whole.before), factsIn(now, whole.after))
          return look({ ...facts, isPart: true, lineRuns: whole.lineRuns })
        })
      },
    }
  }
}

function comparedFacts(was: OpenFacts, now: OpenFacts): ComparedFacts {
  const compared = comparedTexts(was, now)
  return {
    ...compared,
    isPart: false,
    after: { ...compared.after, docs: once(() => now.docs(was.docs())) },
    isSameCode: once(() => was.structure() === now.structure()),
  }
}

type ReadTree = <Found>(look: (whole: ChangedPart) => Found) => Found

type ReadText = { list(known?: KnownParts): ReturnType<typeof readStatements>; lines(): readonly string[] }

/** Pairs the facts of two texts of one language; parts that are equal are read once. */
export function comparedTexts<Facts extends ReadText>(before: Facts, now: Facts) {
  const list = () => now.list(before.list().parts)
  return {
    before,
    after: { ...now, list },
    pairs: once(() => pairStatements(before.list().statements, list().statements)),
    lineRuns: once(() => changedRuns(before.lines(), now.lines())),
  }
}

function readFacts(text: string, read: ReadTree, hashStructure: ReturnType<typeof openStructureHash>): OpenFacts {
  let statements: ReturnType<typeof readStatements> | undefined
  let imports: (ImportingFile & { facts: ImportFact[] }) | undefined
  const readTree = <Found>(look: (tree: ChangedPart['tree']) => Found) => read(({ tree }) => look(tree))
  const unjudged = once(() => readTree((tree) => pythonDocs(tree)))
  return {
    text,
    list: (known) => (statements ??= readTree((tree) => readStatements(tree, text, known))),
    evaluations: (statement) => readTree((tree) => evaluationsIn(tree, statement, pythonEvaluations)),
    names: once(() => readTree(moduleBindingsOf)),
    imports: once(() => readTree(importsIn)),
    importFacts(file) {
      if (imports?.path !== file.path || imports.ownModules !== file.ownModules) {
        imports = { ...file, facts: readTree((tree) => importFactsOf(tree, text, file)) }
      }
      return imports.facts
    },
    lines: once(() => linesOf(text)),
    docstringRows: once(() => readTree(docstringRowsOf)),
    docs: (before) => (before === undefined ? unjudged() : readTree((tree) => pythonDocs(tree, before))),
    structure: once(() => read(({ body }) => hashStructure(body, text))),
    loneFillers: once(() => readTree(loneFillersIn)),
  }
}

export function once<Found>(find: () => Found): () => Found {
  let known: { value: Found } | undefined
  return () => (known ??= { value: find() }).value
}

/** Holds, for each statement, the index of its counterpart in the text after the change or before it; -1 for none. */
export type StatementPairs = { forward: Int32Array; back: Int32Array }

/** The cost, in tokens, up to which all statements of a changed run are compared; beyond it they are paired in order. */
const maxTokens = 1_000_000

/** Pairs statements in order: equal ones, then those that share most code. A head pairs only with one of its kind. */
function pairStatements(before: readonly Statement[], after: readonly Statement[]): StatementPairs {
  const pairs = { forward: new Int32Array(before.length).fill(-1), back: new Int32Array(after.length).fill(-1) }
  const pair = (left: number, right: number) => {
    pairs.forward[left] = right
    pairs.back[right] = left
  }
  let shift = 0
  let next = 0
  for (const run of changedRuns(keysOf(before), keysOf(after))) {
    for (let at = next; at < run.before.start; at++) pair(at, at + shift)
    for (const [left, right] of pairsOfRun(run, before, after)) pair(left, right)
    next = run.before.end
    shift = run.after.end - run.before.end
  }
  for (let at = next; at < before.length; at++) pair(at, at + shift)
  return pairs
}

function keysOf(statements: readonly Statement[]): string[] {
  return statements.map(({ key }) => key)
}

type Pair = readonly [before: number, after: number]

function pairsOfRun(run: ChangedRun, before: readonly Statement[], after: readonly Statement[]): Pair[] {
  const [from, to] = [run.before, run.after]
  const size = from.end - from.start
  const inOrder = Array.from({ length: size }, (_, at): Pair => [from.start + at, to.start + at])
  const alike = ([one, other]: Pair) => likeness(before[one], after[other])
  const isSameSize = size === to.end - to.start
  if (isSameSize && inOrder.every((pair) => alike(pair) >= 0.5)) return inOrder
  const tokens = tokensIn(before.slice(from.start, from.end)) * (to.end - to.start)
  if (tokens + tokensIn(after.slice(to.start, to.end)) * size <= maxTokens) return bestPairs(run, alike)
  return isSameSize ? inOrder.filter((pair) => alike(pair) > 0) : []
}

function tokensIn(statements: readonly Statement[]): number {
  return statements.reduce((sum, one) => sum + one.tokens.length, 0)
}

function bestPairs({ before, after }: ChangedRun, alike: (pair: Pair) => number): Pair[] {
  const [rows, columns] = [before.end - before.start, after.end - after.start]
  const width = columns + 1
  const best = new Float64Array((rows + 1) * width)
  const score = new Float64Array(rows * columns)
  for (let row = rows - 1; row >= 0; row--) {
    for (let column = columns - 1; column >= 0; column--) {
      const own = alike([before.start + row, after.start + column])
      score[row * columns + column] = own
      const paired = own > 0 ? own + (best[(row + 1) * width + column + 1] ?? 0) : 0
      const unpaired = Math.max(best[(row + 1) * width + column] ?? 0, best[row * width + column + 1] ?? 0)
      best[row * width + column] = Math.max(paired, unpaired)
    }
  }
  const pairs: Pair[] = []
  for (let row = 0, column = 0; row < rows && column < columns;) {
    const here = best[row * width + column] ?? 0
    const own = score[row * columns + column] ?? 0
    if (own > 0 && here === own + (best[(row + 1) * width + column + 1] ?? 0)) {
      pairs.push([before.start + row++, after.start + column++])
    } else if (here === best[(row + 1) * width + column]) row += 1
    else column += 1
  }
  return pairs
}

const leastLikeness = 0.25

/** Goes from 0, nothing in common, to 1. Statements of one kind are always somewhat alike, heads of two kinds never. */
function likeness(one: Statement | undefined, other: Statement | undefined): number {
  if (one === undefined || other === undefined || one.isHead !== other.isHead) return 0
  if (one.isHead && one.kind !== other.kind) return 0
  const shared = sharedShare(one.tokens, other.tokens)
  if (one.kind === other.kind) return 0.1 + 0.9 * shared
  return shared >= leastLikeness ? shared : 0
}

function sharedShare(before: readonly Token[], after: readonly Token[]): number {
  const left = Map.groupBy(before, ({ text }) => text)
  const shared = after.filter(({ text }) => left.get(text)?.pop() !== undefined)
  const size = before.length + after.length
  return size === 0 ? 1 : (2 * shared.length) / size
}
