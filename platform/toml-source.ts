import { parse } from 'smol-toml'

/** A larger text is refused before it is parsed: the worst known of this size takes about a quarter of a second of one core. */
export const maxTomlBytes = 256 * 1024

/** Reads a TOML document of at most `maxTomlBytes`; `fault` says in one sentence why it cannot be read. */
export function readToml(text: string): { table: Readonly<Record<string, unknown>> } | { fault: string } {
  const size = Buffer.byteLength(text)
  if (size > maxTomlBytes) return { fault: `it has ${size} bytes, and at most ${maxTomlBytes} are read` }
  try {
    return { table: parse(text.replace(/^\uFEFF/, ''), { integersAsBigInt: false }) }
  } catch (error) {
    return { fault: error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error) }
  }
}
