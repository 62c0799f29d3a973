import { LRUCache } from 'lru-cache'
import { Language, Parser, type Tree } from 'web-tree-sitter'
import { grammarFile } from '#syntax/grammars.ts'
import { scannerGuard } from '#syntax/scanner-guard.ts'

/**
 * A loaded grammar of one thread. `parse` does not fail on bad source: the tree holds ERROR nodes instead. It throws when
 * a text needs more memory than there is, or has damaged the parser; from then on nothing parses in this thread.
 */
export type LoadedLanguage = {
  language: Language
  /** The caller frees the tree with `tree.delete()`. Indices are in UTF-16 units of `text`. */
  parse(text: string): Tree
  /**
   * What `look` finds in the text's tree, which is kept for a while, since many look at the same text. `look` must not
   * keep the tree, nor free it.
   */
  read<Found>(text: string, look: (tree: Tree) => Found): Found
}

/** Trees take about ten times their source in memory: 40 MB at most. */
const keptTrees = { max: 64, maxSize: 4_000_000 }

const pageBytes = 65_536
const startBytes = 32 * 1024 ** 2
/** Of one thread: a text that needs more cannot be parsed. */
const maxBytes = 512 * 1024 ** 2

const loaded = new Map<string, Promise<LoadedLanguage>>()
let started: Promise<void> | undefined
let wasmMemory: WebAssembly.Memory | undefined
let damaged = false

/** How much memory the parsers of this thread have taken. It never gets less: what was needed once is kept. */
export function parserMemoryBytes(): number {
  return wasmMemory?.buffer.byteLength ?? 0
}

/** The grammar of `language`, loaded once per thread. DISC_003 when there is none. */
export async function loadLanguage(language: string): Promise<LoadedLanguage> {
  const known = loaded.get(language)
  if (known !== undefined) return known
  const loading = load(language)
  loaded.set(language, loading)
  return loading
}

async function load(name: string): Promise<LoadedLanguage> {
  const file = grammarFile(name)
  wasmMemory ??= new WebAssembly.Memory({ initial: startBytes / pageBytes, maximum: maxBytes / pageBytes })
  started ??= Parser.init({ wasmMemory })
  await started
  const language = await Language.load(file)
  const parser = new Parser()
  const isOverrun = scannerGuard(parser, wasmMemory)
  parser.setLanguage(language)
  const trees = new LRUCache<string, Tree>({
    ...keptTrees,
    sizeCalculation: (_tree, text) => Math.min(text.length + 1, keptTrees.maxSize),
    dispose: (tree) => tree.delete(),
  })
  const parse = (text: string) => parseWith(parser, text, isOverrun)
  const read = <Found>(text: string, look: (tree: Tree) => Found): Found => {
    const known = trees.get(text)
    const tree = known ?? parse(text)
    const found = look(tree)
    if (known === undefined) trees.set(text, tree)
    return found
  }
  return { language, parse, read }
}

function parseWith(parser: Parser, text: string, isOverrun: () => boolean): Tree {
  if (damaged) throw new Error('an earlier text has damaged the parser of this process: start it again')
  damaged = true
  const tree = parser.parse(text)
  if (tree === null) throw new Error('the parser has no language')
  if (isOverrun()) throw new Error('too deeply nested for the grammar: its scanner has damaged the parser')
  damaged = false
  return tree
}
