import type { Node } from 'web-tree-sitter'

/**
 * The text between the quotes of a `string` node, escapes as they stand in the source; undefined for any other node, for
 * bytes, and for an f-string or t-string that has code in it.
 */
export function plainStringText(string: Node | null | undefined): string | undefined {
  if (string?.type !== 'string') return undefined
  if (string.namedChildren.some((child) => child?.type === 'interpolation')) return undefined
  const match = /^([a-zA-Z]*)("""|'''|"|')([^]*)\2$/.exec(string.text)
  return match === null || /b/i.test(match[1] ?? '') ? undefined : match[3]
}
