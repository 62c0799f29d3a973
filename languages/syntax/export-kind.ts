export type ExportKind = 'named' | 'default'

/** Longer modules are read this far. */
const maxLength = 1_000_000

/**
 * The names that a module in JavaScript or TypeScript exports, and whether as themselves or as the whole. By its text alone, so that it
 * may miss what is exported in another way. Every repetition has a limit, since the text may be anybody's.
 */
export function exportsOf(source: string): ReadonlyMap<string, ExportKind> {
  const text = source.slice(0, maxLength)
  const found = new Map<string, ExportKind>()
  for (const [, name = ''] of text.matchAll(asWhole)) found.set(name, 'default')
  for (const [, name = ''] of text.matchAll(alone)) found.set(name, 'named')
  for (const [, listed = ''] of text.matchAll(lists)) {
    for (const part of listed.split(',')) {
      const [, name = '', other] = /^\s*([\w$]+)\s*(?:(?:as|:)\s*([\w$]+)\s*)?$/.exec(part) ?? []
      if (other === 'default') found.set(name, 'default')
      else if (name !== '' && (other === undefined || other === name)) found.set(name, 'named')
    }
  }
  return found
}

/** `export default f`, `module.exports = f` */
const asWhole =
  /(?:\bexport\s{1,20}default|\bmodule\.exports\s{0,20}=)\s{1,20}(?:async\s{1,20})?(?:function\s{0,20}\*?\s{0,20}|class\s{1,20})?([\w$]+)(?=[\s;({]|$)/g
/** `export function f`, `exports.f =` */
const alone =
  /(?:\bexport\s{1,20}(?:(?:declare|abstract|async)\s{1,20}){0,3}(?:function\s{0,20}\*?|class|const|let|var)\s{1,20}|\bexports\.(?=[\w$]+\s{0,20}=))([\w$]+)/g
/** `export { f }`, `module.exports = { f }` */
const lists = /\b(?:export|module\.exports\s{0,20}=)\s{0,20}\{([^}]{0,4000})\}/g
