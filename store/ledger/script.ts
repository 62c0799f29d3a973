import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { type RedisClient, redisScript, type Script, type ScriptArg } from '#platform/redis-client.ts'
import type { RunId } from '#domain/ids.ts'
import { AppError } from '#domain/error.ts'
import { runKeys } from './keys.ts'

/** Scripts of a run share these parts; each needs those before it. A script gets only what it needs: Redis runs it all. */
const sharedParts = ['keys', 'events', 'transitions'] as const

/** A script of a run: its keys start with `RunKeys.scripted`, and the shared parts up to `upTo` are put before it. */
export function runScript(name: string, upTo: (typeof sharedParts)[number] = 'transitions'): Script {
  const parts = sharedParts.slice(0, sharedParts.indexOf(upTo) + 1)
  return redisScript(scriptText([...parts, name].map(sourceOf)))
}

/** Makes a command of its script, which has the keys of the run and then `more`. Its answer is parsed. RUN_001, RUN_005. */
export function runCommand<Reply extends z.ZodType>(
  name: string,
  reply: Reply,
  upTo: (typeof sharedParts)[number] = 'transitions',
) {
  const script = runScript(name, upTo)
  return async (
    { redis, namespace }: { redis: RedisClient; namespace: string },
    runId: RunId,
    args: readonly ScriptArg[],
    more: readonly string[] = [],
  ): Promise<z.output<Reply>> => {
    const answer = await script(redis, [...runKeys(namespace, runId).scripted, ...more], args)
    return reply.parse(expectKnownRun(runId, answer))
  }
}

/** The parts of a run's script. One that may write events tells of them when it is done, whatever way it took. */
export function scriptText(parts: readonly string[]): string {
  if (parts.length < 3) return parts.join('\n')
  const command = ['local function command()', parts.at(-1), 'end']
  return [...parts.slice(0, -1), ...command, 'local answer = command()', 'tell()', 'return answer'].join('\n')
}

export function plainScript(name: string): Script {
  return redisScript(sourceOf(name))
}

/** A script's reply of named fields, name and value in turn. Redis makes null of a Lua `false`: the field is left out. */
export const NamedFields = z
  .array(z.union([z.string(), z.int(), z.null()]))
  .transform((flat): unknown => Object.fromEntries(pairsOf(flat)))

/** A script's reply that is JSON. */
export const JsonReply = z.string().transform((text): unknown => JSON.parse(text))

/** A flat list of names and values in pairs, without the names that have no value. */
export function pairsOf<T>(flat: readonly T[]): [name: string, value: NonNullable<T>][] {
  return flat.flatMap((name, at): [string, NonNullable<T>][] => {
    const value = flat[at + 1]
    return at % 2 === 0 && value !== undefined && value !== null ? [[String(name), value]] : []
  })
}

function sourceOf(name: string): string {
  return readFileSync(new URL(`./${name}.lua`, import.meta.url), 'utf8')
}

/** Throws RUN_001 or RUN_005 for a script's `unknown` or `newer`; returns every other answer. */
function expectKnownRun(runId: RunId, answer: unknown): unknown {
  if (answer === 'unknown') throw unknownRun(runId)
  if (answer === 'newer') throw newerRun(runId)
  return answer
}

export function unknownRun(runId: RunId): AppError {
  return new AppError('RUN_001', `There is no run "${runId}".`)
}

export function newerRun(runId: RunId): AppError {
  return new AppError('RUN_005', `Run "${runId}" was made by a newer version of Remora; update this one to work on it.`)
}
