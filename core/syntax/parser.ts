import { LRUCache } from 'lru-cache'
import { Language, Parser, type Tree } from 'web-tree-sitter'
import { grammarFile } from '#syntax/grammars.ts'

/** A loaded grammar of one thread. `parse` never fails on bad source: the tree holds ERROR nodes instead. */
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

const loaded = new Map<string, Promise<LoadedLanguage>>()
let started: Promise<void> | undefined

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
  started ??= Parser.init()
  await started
  const language = await Language.load(file)
  const parser = new Parser()
  parser.setLanguage(language)
  const trees = new LRUCache<string, Tree>({
    ...keptTrees,
    sizeCalculation: (_tree, text) => Math.min(text.length + 1, keptTrees.maxSize),
    dispose: (tree) => tree.delete(),
  })
  const read = <Found>(text: string, look: (tree: Tree) => Found): Found => {
    const known = trees.get(text)
    const tree = known ?? parseWith(parser, text)
    const found = look(tree)
    if (known === undefined) trees.set(text, tree)
    return found
  }
  return { language, parse: (text) => parseWith(parser, text), read }
}

function parseWith(parser: Parser, text: string): Tree {
  const tree = parser.parse(text)
  if (tree === null) throw new Error('the parser has no language')
  return tree
}
