import { isRecord } from './json.ts'

/**
 * The first `max` characters or so of a value as JSON, for people and models: of values that others made, however deep or
 * large. Nothing is looked at that is not shown.
 */
export function clippedJson(value: unknown, max: number): string {
  let text = ''
  const write = (part: unknown): void => {
    if (Array.isArray(part)) writeAll('[', part, write, ']')
    else if (isRecord(part)) writeAll('{', membersOf(part), writeMember, '}')
    else text += JSON.stringify(typeof part === 'string' ? part.slice(0, max) : part) ?? String(part)
  }
  const writeMember = ([key, member]: [string, unknown]) => {
    text += `${JSON.stringify(key.slice(0, max))}:`
    write(member)
  }
  const writeAll = <Part>(start: string, parts: Iterable<Part>, writeOne: (part: Part) => void, end: string) => {
    let between = start
    for (const part of parts) {
      if (text.length >= max) return
      text += between
      between = ','
      writeOne(part)
    }
    text += between === start ? `${start}${end}` : end
  }
  write(value)
  return text.slice(0, max)
}

function* membersOf(record: Record<string, unknown>): Iterable<[string, unknown]> {
  for (const key in record) if (Object.hasOwn(record, key)) yield [key, record[key]]
}
