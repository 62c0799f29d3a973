/** Where a heading stands: what it heads lies in the same scope, behind it. */
export type Heading = {
  level: number
  /** The scope's own number in its tree, and the index behind its last character. */
  scope: { id: number; end: number }
}

type Headed = { kind: string; start: number; end: number; heading: Heading | undefined }

/**
 * Lets every definition that is only a heading (a markdown heading, `namespace App;`) go on over what it heads: up to
 * the next heading of its kind and scope that is of the same or a smaller level, or to the end of the scope.
 */
export function extendHeadings<T extends Headed>(definitions: readonly T[]): T[] {
  const extended = definitions.toSorted((a, b) => a.start - b.start)
  const open = new Map<string, { at: number; level: number }[]>()
  for (const [at, { kind, start, heading }] of extended.entries()) {
    if (heading === undefined) continue
    const { level, scope } = heading
    const key = `${kind}\0${scope.id}`
    const stack = open.get(key) ?? []
    open.set(key, stack)
    for (let last = stack.at(-1); last !== undefined && last.level >= level; last = stack.at(-1)) {
      endAt(extended, last.at, start)
      stack.pop()
    }
    endAt(extended, at, scope.end)
    stack.push({ at, level })
  }
  return extended
}

function endAt(definitions: Headed[], at: number, end: number): void {
  const definition = definitions[at]
  if (definition !== undefined) definitions[at] = { ...definition, end }
}
