import { readFileSync } from 'node:fs'
import { redisScript, type Script } from '#platform/redis-script.ts'

/** A script of a run: its keys start with `RunKeys.scripted`, and prelude.lua is put before it. */
export function runScript(name: string): Script {
  return redisScript(`${sourceOf('prelude')}\n${sourceOf(name)}`)
}

export function plainScript(name: string): Script {
  return redisScript(sourceOf(name))
}

function sourceOf(name: string): string {
  return readFileSync(new URL(`./${name}.lua`, import.meta.url), 'utf8')
}
