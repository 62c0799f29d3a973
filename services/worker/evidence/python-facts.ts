import { LRUCache } from 'lru-cache'
import { docstringRowsOf } from '#python/docstring-expression.ts'
import { importFactsOf, importsIn, type ImportedHere, type ImportFact } from '#python/import-facts.ts'
import { moduleBindingsOf, type ModuleBindings } from '#python/module-bindings.ts'
import type { LoadedLanguage } from '#syntax/parser.ts'
import { changedRuns, linesOf, type ChangedRun } from '../workspace/changed-runs.ts'
import { pairStatements, type StatementPairs } from './statement-pairs.ts'
import { readStatements, type KnownParts, type StatementList } from './statements.ts'

/** What an import means depends on where its file is, and on the repository's own modules. */
export type ImportingFile = { path: string; ownModules: readonly string[] | undefined }

/** What the checks ask of one Python text; all of it is read from one tree, when it is first asked for. */
export type PythonFacts = {
  text: string
  list(): StatementList
  names(): ModuleBindings
  imports(): ImportedHere[]
  /** The imports, and which of them must stay. */
  importFacts(file: ImportingFile): ImportFact[]
  lines(): readonly string[]
  docstringRows(): ReadonlySet<number>
}

/** Two texts of one file, which statements of the one have become which of the other, and where their lines differ. */
export type ComparedFacts = {
  before: PythonFacts
  after: PythonFacts
  pairs(): StatementPairs
  lineRuns(): ChangedRun[]
}

/** What a check found: a fault in words for people and the model, which names line and thing, and figures. */
export type Finding = { fault: string | undefined; before?: number; after?: number }

export type PythonFactsReader = (before: string, after: string) => ComparedFacts

/** Facts take about ten times their text in memory. */
const keptFacts = { max: 500, maxSize: 2_000_000 }

/** What `known` has of the text's parts is not read again. */
type OpenFacts = Omit<PythonFacts, 'list'> & { list(known?: KnownParts): ReturnType<typeof readStatements> }

/** Every operation on a file starts from the same text: what was read of it is kept for the next. */
export function openPythonFacts(python: Pick<LoadedLanguage, 'read'>): PythonFactsReader {
  const kept = new LRUCache<string, OpenFacts>({
    ...keptFacts,
    sizeCalculation: (_facts, text) => Math.min(text.length + 1, keptFacts.maxSize),
  })
  const factsOf = (text: string) => {
    const facts = kept.get(text) ?? readFacts(text, python)
    kept.set(text, facts)
    return facts
  }
  return (before, after) => {
    const [was, now] = [factsOf(before), factsOf(after)]
    const list = () => now.list(was.list().parts)
    const pairs = once(() => pairStatements(was.list().statements, list().statements))
    const lineRuns = once(() => changedRuns(was.lines(), now.lines()))
    return { before: was, after: { ...now, list }, pairs, lineRuns }
  }
}

function readFacts(text: string, python: Pick<LoadedLanguage, 'read'>): OpenFacts {
  let statements: ReturnType<typeof readStatements> | undefined
  let imports: (ImportingFile & { facts: ImportFact[] }) | undefined
  return {
    text,
    list: (known) => (statements ??= python.read(text, (tree) => readStatements(tree, text, known))),
    names: once(() => python.read(text, moduleBindingsOf)),
    imports: once(() => python.read(text, importsIn)),
    importFacts(file) {
      if (imports?.path !== file.path || imports.ownModules !== file.ownModules) {
        imports = { ...file, facts: python.read(text, (tree) => importFactsOf(tree, text, file)) }
      }
      return imports.facts
    },
    lines: once(() => linesOf(text)),
    docstringRows: once(() => python.read(text, docstringRowsOf)),
  }
}

function once<Found>(find: () => Found): () => Found {
  let found: { value: Found } | undefined
  return () => (found ??= { value: find() }).value
}
