import type { Parser } from 'web-tree-sitter'
import { z } from 'zod'

/** What TypeScript must not see: a parser is an address in the memory of its wasm instance. */
const ParserAddress = z.object({ 0: z.int().positive() })

/** `TREE_SITTER_SERIALIZATION_BUFFER_SIZE`, in words of four bytes. */
const bufferWords = 256

/**
 * Tells whether a grammar's scanner has written over the end of the buffer a parser lends it, as those of markdown and
 * yaml do for a line that opens hundreds of lists: nothing in the instance can be believed then, nor what was read from
 * it. The word behind the buffer points to the parser's stack and never changes while the parser lives; in a new parser
 * it is the first that is not zero behind the empty buffer.
 */
export function scannerGuard(parser: Parser, memory: WebAssembly.Memory): () => boolean {
  const address = ParserAddress.parse(parser)[0] / Uint32Array.BYTES_PER_ELEMENT
  const wordAt = (at: number) => new Uint32Array(memory.buffer)[address + at]
  let behind = 0
  for (let zeros = 0; zeros < bufferWords || wordAt(behind) === 0; behind++)
    zeros = wordAt(behind) === 0 ? zeros + 1 : 0
  const stack = wordAt(behind)
  return () => wordAt(behind) !== stack
}
