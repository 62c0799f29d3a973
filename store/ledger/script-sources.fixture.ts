import { readdirSync, readFileSync } from 'node:fs'
import { scriptText } from './script.ts'

const folder = new URL('./', import.meta.url)
const shared = ['keys', 'events', 'transitions']

/**
 * Each `.lua` of this folder: its name, and what may be sent of it: alone, or behind one, two or all of the shared
 * parts.
 */
export function scriptSources(): Map<string, string[]> {
  const read = (name: string) => readFileSync(new URL(`${name}.lua`, folder), 'utf8')
  const names = readdirSync(folder).flatMap((file) => (file.endsWith('.lua') ? [file.replace('.lua', '')] : []))
  const own = names.filter((name) => !shared.includes(name))
  const behind = (name: string, parts: number) => scriptText([...shared.slice(0, parts), name].map(read))
  return new Map(own.map((name) => [name, [0, 1, 2, 3].map((parts) => behind(name, parts))]))
}
