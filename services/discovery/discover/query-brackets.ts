/** Where the brackets of a query's text open and close; those in strings and comments are none. */
export type QueryBrackets = {
  /** Index of each `(` or `[` → index behind what closes it. */
  closed: ReadonlyMap<number, number>
  /** Indices of those that nothing closes, outermost first. */
  open: readonly number[]
}

const part = /"(?:[^"\\]|\\.)*"?|;[^\n]*|[([\])]/gs

export function queryBrackets(text: string): QueryBrackets {
  const closed = new Map<number, number>()
  const open: number[] = []
  for (const { 0: found, index } of text.matchAll(part)) {
    if (found === '(' || found === '[') open.push(index)
    else if (found === ')' || found === ']') {
      const start = open.pop()
      if (start !== undefined) closed.set(start, index + 1)
    }
  }
  return { closed, open }
}
