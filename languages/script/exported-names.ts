const maxLength = 1_000_000

/**
 * Returns the names of a module in JavaScript or TypeScript that it exports, each with the name under which others import it: mostly the
 * same, or `default`. It reads the text alone, so that it may miss what is exported in another way. Every repetition has a limit, since
 * the text may be anybody's.
 */
export function exportsOf(source: string): ReadonlyMap<string, string> {
  const text = source.slice(0, maxLength)
  const found = new Map<string, string>()
  for (const [, other = '', name = ''] of text.matchAll(assigned)) found.set(name, other)
  for (const [, name = ''] of text.matchAll(asWhole)) found.set(name, 'default')
  for (const [, name = ''] of text.matchAll(alone)) found.set(name, name)
  for (const [, listed = '', from] of text.matchAll(lists)) {
    for (const part of from === undefined ? listed.split(',') : []) {
      const [, first = '', sign, second = first] =
        /^\s*(?:type\s+)?([\w$'"-]+)\s*(?:(as|:)\s*([\w$]+)\s*)?$/.exec(part) ?? []
      const [name, other] = sign === ':' ? [second, first] : [first, second]
      if (name !== '' && found.get(name) !== name) found.set(name, other)
    }
  }
  return found
}

/** `exports.g = f` */
const assigned = /\bexports\.([\w$]{1,200})\s{0,20}=\s{0,20}([\w$]{1,200})(?=\s{0,20};?[ \t]{0,20}$)/gm
/** `export default f`, `export = f`, `module.exports = f` */
const asWhole =
  /(?:\bexport\s{1,20}default\s|\b(?:export|module\.exports)\s{0,20}=)\s{0,20}(?:async\s{1,20})?(?:function\s{0,20}\*?\s{0,20}|class\s{1,20})?([\w$]+)(?=[\s;({]|$)/g
/** `export function f`, `exports.f =` */
const alone =
  /(?:\bexport\s{1,20}(?:(?:declare|abstract|async)\s{1,20}){0,3}(?:function\s{0,20}\*?|class|const|let|var)\s{1,20}|\bexports\.(?=[\w$]+\s{0,20}=))([\w$]+)/g
/** `export { f }`, which is no `export { f } from "…"`, and `module.exports = { f }` */
const lists = /\b(?:export(?:\s{1,20}type)?|module\.exports\s{0,20}=)\s{0,20}\{([^{}]{0,20000})(\}\s{0,20}from\b)?/g
