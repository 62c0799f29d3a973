/** Parses a JSON text from outside; undefined (which no JSON text means) when it is not valid. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Is true when lists and objects are nested deeper than `levels`. Looks no deeper than that. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((part) => isDeeperThan(part, levels - 1))
}

/** Finds the first text, names included, that no store can keep: with half of a character, or with NUL. */
export function textFault(whole: unknown): string | undefined {
  const open: [path: string, value: unknown][] = [['', whole]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [path, value] = next
    if (typeof value === 'string') {
      const fault = faultIn(value)
      if (fault !== undefined) return `${path === '' ? 'the text' : path} ${fault}`
    }
    if (typeof value !== 'object' || value === null) continue
    for (const [key, part] of Object.entries(value).toReversed()) {
      const fault = faultIn(key)
      if (fault !== undefined) return `the name ${JSON.stringify(key)} ${fault}`
      open.push([Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`, part])
    }
  }
  return undefined
}

function faultIn(text: string): string | undefined {
  const half = /\p{Cs}/u.exec(text)
  if (half !== null) return `has half of a character, ${JSON.stringify(half[0])}, at ${half.index}`
  const nul = text.indexOf('\0')
  return nul === -1 ? undefined : `has a NUL at ${nul}`
}

/** A replacer for `JSON.stringify` that sorts the keys of every object by UTF-16 units. */
export function sortedKeys(_key: string, value: unknown): unknown {
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1)))
}

/** The writer recurses: deeper values are shown as `…`. */
const maxDepth = 100

/** Writes about the first `max` characters of a value as JSON, and reads no more of it, whatever its depth and size. */
export function clippedJson(value: unknown, max: number): string {
  let text = ''
  const write = (part: unknown, depth: number): void => {
    if (depth > maxDepth) text += '…'
    else if (Array.isArray(part)) writeAll('[]', part, (item) => write(item, depth + 1))
    else if (isRecord(part)) writeAll('{}', membersOf(part), (member) => writeMember(member, depth + 1))
    else text += JSON.stringify(typeof part === 'string' ? part.slice(0, max) : part) ?? String(part)
  }
  const writeMember = ([key, member]: [string, unknown], depth: number) => {
    text += `${JSON.stringify(key.slice(0, max))}:`
    write(member, depth)
  }
  const writeAll = <Part>([start, end]: string, parts: Iterable<Part>, writeOne: (part: Part) => void) => {
    let between = ''
    text += start
    for (const part of parts) {
      if (text.length >= max) return
      text += between
      between = ','
      writeOne(part)
    }
    text += end
  }
  write(value, 1)
  return text.slice(0, max)
}

function* membersOf(record: Record<string, unknown>): Iterable<[string, unknown]> {
  for (const key in record) if (Object.hasOwn(record, key)) yield [key, record[key]]
}
