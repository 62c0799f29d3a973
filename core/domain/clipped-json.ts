import { isRecord } from './json.ts'

/** Writing recurses: what lies deeper shows as `…`. */
const maxDepth = 100

/**
 * The first `max` characters or so of a value as JSON, for people and models: of values that others made, however deep or
 * large. Nothing is looked at that is not shown.
 */
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
