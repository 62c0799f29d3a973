import { setFlagsFromString } from 'node:v8'
import { LRUCache } from 'lru-cache'
import { Language, type ParseCallback, Parser, type Range, type Tree } from 'web-tree-sitter'
import { z } from 'zod'
import { getOrMake } from '#platform/cached-answers.ts'
import { grammarFile } from './grammars.ts'

/**
 * A loaded grammar of one thread. `parse` does not fail on bad source: the tree holds ERROR nodes instead. It throws when
 * a text needs more memory than there is, or has damaged the parser; from then on nothing parses in this thread.
 */
export type LoadedLanguage = {
  language: Language
  /**
   * The caller frees the tree with `tree.delete()`. Indices are in UTF-16 units of `text`. With `ranges` the tree is that of the text in
   * them alone, and its nodes have the places that they have in the whole.
   */
  parse(text: string, ranges?: Range[]): Tree
  /**
   * Returns the result of `look`, called with the text's tree. Trees are cached, since the same text is read several times. `look` must not
   * keep or free the tree.
   */
  read<Found>(text: string, look: (tree: Tree) => Found): Found
}

/** Counts characters of text; a tree takes about 37 times as much memory: 40 MB at most. */
const usualCachedLength = 1_000_000
const cachedTrees = 256

const pageBytes = 65_536
const startBytes = 32 * 1024 ** 2
/** Limits the memory of one thread's parsers: a text that needs more cannot be parsed. */
const maxBytes = 512 * 1024 ** 2

const loaded = new Map<string, Promise<LoadedLanguage>>()
let started: Promise<void> | undefined
let wasmMemory: WebAssembly.Memory | undefined
let damaged = false

export function parserMemoryBytes(): number {
  return wasmMemory?.buffer.byteLength ?? 0
}

/** Loads a grammar once per thread. DISC_003 when there is none. `cachedLength` bounds the texts whose trees it keeps; the first call decides. */
export async function loadLanguage(
  language: string,
  { cachedLength = usualCachedLength }: { cachedLength?: number } = {},
): Promise<LoadedLanguage> {
  return getOrMake(loaded, language, () => load(language, cachedLength))
}

async function load(name: string, cachedLength: number): Promise<LoadedLanguage> {
  const file = grammarFile(name)
  wasmMemory ??= new WebAssembly.Memory({ initial: startBytes / pageBytes, maximum: maxBytes / pageBytes })
  started ??= start(wasmMemory)
  await started
  const language = await Language.load(file)
  const parser = new Parser()
  const isOverrun = scannerGuard(parser, wasmMemory)
  parser.setLanguage(language)
  const trees = new LRUCache<string, Tree>({
    max: cachedTrees,
    maxSize: cachedLength,
    sizeCalculation: (_tree, text) => Math.min(text.length + 1, cachedLength),
    dispose: (tree) => tree.delete(),
  })
  const parse = (text: string, ranges?: Range[]) => parseWith(parser, { text, ranges }, isOverrun)
  const read = <Found>(text: string, look: (tree: Tree) => Found): Found => {
    const known = trees.get(text)
    const tree = known ?? parse(text)
    const found = look(tree)
    if (known === undefined) trees.set(text, tree)
    return found
  }
  return { language, parse, read }
}

/** V8 optimises WebAssembly with as many tasks at once as it has threads, each with memory of its own: one takes 300 MB less. */
function start(memory: WebAssembly.Memory): Promise<void> {
  setFlagsFromString('--wasm-num-compilation-tasks=1')
  return Parser.init({ wasmMemory: memory })
}

type Parsed = { text: string; ranges: Range[] | undefined }

function parseWith(parser: Parser, { text, ranges }: Parsed, isOverrun: () => boolean): Tree {
  if (damaged) throw new Error('an earlier text has damaged the parser of this process: start it again')
  damaged = true
  const tree =
    ranges === undefined ? parser.parse(text) : parser.parse(inRanges(text, ranges), null, { includedRanges: ranges })
  if (tree === null) throw new Error('the parser has no language')
  if (isOverrun()) throw new Error('too deeply nested for the grammar: its scanner has damaged the parser')
  damaged = false
  return tree
}

/** Reads no further than a range goes: the parser copies what it is given, up to 5,000 characters of it. */
function inRanges(text: string, ranges: readonly Range[]): ParseCallback {
  return (from) =>
    text.slice(from, ranges.find(({ startIndex, endIndex }) => startIndex <= from && from < endIndex)?.endIndex)
}

/** The types leave this out: a parser is an address in the memory of its wasm instance. */
const ParserAddress = z.object({ 0: z.int().positive() })

/** `TREE_SITTER_SERIALIZATION_BUFFER_SIZE`, in words of four bytes. */
const bufferWords = 256

/**
 * Tells whether a grammar's scanner has written over the end of the buffer a parser lends it, as those of markdown and
 * yaml do for a line that opens hundreds of lists: then nothing in the instance is reliable. The word behind the buffer
 * points to the parser's stack and never changes while the parser lives; in a new parser it is the first that is not
 * zero behind the empty buffer.
 */
function scannerGuard(parser: Parser, memory: WebAssembly.Memory): () => boolean {
  const address = ParserAddress.parse(parser)[0] / Uint32Array.BYTES_PER_ELEMENT
  const wordAt = (at: number) => new Uint32Array(memory.buffer)[address + at]
  let behind = 0
  for (let zeros = 0; zeros < bufferWords || wordAt(behind) === 0; behind++)
    zeros = wordAt(behind) === 0 ? zeros + 1 : 0
  const stack = wordAt(behind)
  return () => wordAt(behind) !== stack
}
