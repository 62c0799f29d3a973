import type { Env } from './env.ts'
import { runProgram } from './run-program.ts'

/** A server; `fits`: new enough. */
export type RedisProgram = { path: string; version: string; fits: boolean }

const versionMs = 5_000
/** `SET … NX GET`, which the ledger needs, is of Redis 7. */
export const leastRedis = 7

/** Undefined for what is no Redis or Valkey server. `env` is that of this process. */
export async function examineRedis(
  path: string,
  { signal, env }: { signal: AbortSignal; env: Env },
): Promise<RedisProgram | undefined> {
  const end = await runProgram([path, '--version'], { limitMs: versionMs, signal, env })
  const said = end.kind === 'ended' ? /(\w+) server v=(\S+)/.exec(end.out) : null
  const [, name, version] = said ?? []
  if (name === undefined || version === undefined) return undefined
  return { path, version, fits: name === 'Valkey' || Number.parseInt(version, 10) >= leastRedis }
}
