import { readdirSync, readFileSync } from 'node:fs'

const folder = new URL('./', import.meta.url)
const shared = 'prelude'

/** Each `.lua` of this folder: its name, and what is sent of it, alone or behind what the scripts of a run share. */
export function scriptSources(): Map<string, [alone: string, behindPrelude: string]> {
  const read = (name: string) => readFileSync(new URL(`${name}.lua`, folder), 'utf8')
  const names = readdirSync(folder).flatMap((file) => (file.endsWith('.lua') ? [file.replace('.lua', '')] : []))
  const own = names.filter((name) => name !== shared).map((name) => [name, read(name)] as const)
  return new Map(own.map(([name, source]) => [name, [source, `${read(shared)}\n${source}`]]))
}
