/** Longer texts are no paths worth following. */
const longestText = 300

/** Stands for an expression that is no path. */
export const noPath = '?'

const plainName = /^[A-Za-z_]\w*$/
const callArguments = /\((?:[^()"'`]|"[^"\n]*"|'[^'\n]*')*\)/g
const path = /^[\p{ID_Start}_$@#][\p{ID_Continue}$]*(?:\(\))?(?:\.#?[\p{ID_Start}_$][\p{ID_Continue}$]*(?:\(\))?)*$/u

/**
 * An expression as names joined by dots, a called one followed by `()`: `a.b().c`. What makes a value of a type counts
 * as its call (`new A(1)`, `&A{…}`). `?` for everything else.
 */
export function expressionPath(text: string): string {
  if (plainName.test(text)) return text
  if (text.length > longestText) return literalPath(text)
  let plain = text.replace(/^\(?(?:await|new|yield|yield from)\s+/, '').trim()
  for (let before = ''; before !== plain;) {
    before = plain
    plain = plain.replace(callArguments, (match) => (match === '()' ? match : '\u0001'))
  }
  plain = plain.replaceAll('\u0001', '()').replace(/\s*[?!]?\.\s*/g, '.')
  return path.test(plain) ? plain : literalPath(text)
}

/** Go's `&Server{…}`. */
function literalPath(text: string): string {
  const type = /^&?([\w.]+)(?:\[[^\]]*\])?\{/.exec(text)?.[1]
  return type !== undefined && text.endsWith('}') && path.test(type) ? `${type}()` : noPath
}

/** Types that say nothing of what is in them. */
const anything = new Set(['any', 'unknown', 'object', 'Any', 'typing.Any'])

/** The named type of an annotation: without pointers, quotes, type arguments, and `None`, `null` or an error beside it. */
export function typePath(text: string): string | undefined {
  if (text.length > longestText) return undefined
  let plain = text.trim().replace(/^["']|["']$/g, '')
  plain = plain.replace(/^(?:\w+\.)?Optional\[(.*)\]$/s, '$1').replace(/^Promise<(.*)>$/s, '$1')
  plain = plain.replace(/\s*\|\s*(?:None|null|undefined)\b/g, '').replace(/^\((.*?),\s*error\)$/s, '$1')
  plain = plain.replace(/^[*&]+/, '').replace(/(?:<.*>|\[.+\])$/s, '')
  return path.test(plain) && !plain.includes('(') && !anything.has(plain) ? plain : undefined
}
