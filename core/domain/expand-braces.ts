/** What `{a,b}` stands for, inner braces included, in order. Without a comma braces are text, and so is a lone one. */
export function* expandBraces(pattern: string): Generator<string> {
  const group = firstGroup(pattern)
  if (group === undefined) {
    yield pattern
    return
  }
  const head = pattern.slice(0, group.start)
  const tail = pattern.slice(group.end + 1)
  for (const alternative of group.alternatives) {
    for (const rest of expandBraces(`${alternative}${tail}`)) yield `${head}${rest}`
  }
}

type Group = { start: number; end: number; alternatives: string[] }

/** The first outermost `{…}` with a comma of its own. */
function firstGroup(pattern: string): Group | undefined {
  for (let start = 0; start < pattern.length; start++) {
    if (pattern[start] === '\\') start++
    else if (pattern[start] === '{') {
      const group = groupAt(pattern, start)
      if (group !== undefined) return group
    }
  }
  return undefined
}

function groupAt(pattern: string, start: number): Group | undefined {
  const alternatives: string[] = []
  let depth = 1
  let from = start + 1
  for (let at = from; at < pattern.length; at++) {
    const character = pattern[at]
    if (character === '\\') at++
    else if (character === '{') depth++
    else if (character === '}') depth--
    if (depth > 1 || !(depth === 0 || character === ',')) continue
    alternatives.push(pattern.slice(from, at))
    from = at + 1
    if (depth === 0) return alternatives.length > 1 ? { start, end: at, alternatives } : undefined
  }
  return undefined
}
