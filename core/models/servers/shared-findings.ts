import { randomUUID } from 'node:crypto'
import { parseJson } from '#domain/json.ts'
import { repeatEvery } from '#platform/clock.ts'
import type { RedisClient } from '#platform/connect-redis.ts'
import { withinLimit } from '#platform/within-limit.ts'
import { Findings } from './findings.ts'
import type { FindingsKeeper, Turn } from './findings-keeper.ts'

export type SharedFindingsOptions = {
  redis: RedisClient
  /** Of the keys. */
  namespace?: string
  /** After so long in silence a process that has the turn is taken for gone. */
  turnMs?: number
}

/** Commands of a turn wait no longer for a Redis that is away. */
const patienceMs = 1000
const defaultTurnMs = 60_000
const doubtMs = 60_000
/** A process that starts begins with what was found within the last hour, and asks only what no longer goes. */
const keptMs = 60 * 60_000
const resting = 'resting'
/** How often a turn is renewed in the time after which it is over. */
const renewalsPerTurn = 4

/**
 * What is found of model servers, shared by all processes through Redis, where one at a time probes a server for a model.
 * The key `turn` has the mark of the one that does, which renews it, or says that nobody needs to, until it expires. While Redis is away,
 * every process probes for itself.
 */
export function openSharedFindings({
  redis,
  namespace = 'remora',
  turnMs = defaultTurnMs,
}: SharedFindingsOptions): FindingsKeeper {
  const keysOf = (server: string, model: string) => {
    const name = `${namespace}:{findings:${server} ${model}}`
    return { turn: `${name}:turn`, found: `${name}:found`, doubted: `${name}:doubted` }
  }
  /** The marks of this process' turns, by their keys. */
  const marks = new Map<string, string>()
  const renew = async (turn: string) => {
    if ((await redis.get(turn)) === marks.get(turn)) await redis.pexpire(turn, turnMs)
  }
  const write = async (key: string, findings: Findings) => {
    await redis.set(key, JSON.stringify(findings), 'PX', keptMs)
  }
  return {
    turn(server, model) {
      const keys = keysOf(server, model)
      const mark = randomUUID()
      marks.set(keys.turn, mark)
      return reachable(() => takeTurn(redis, keys, { mark, turnMs }), alone)
    },
    keepTurn(server, model) {
      const { turn } = keysOf(server, model)
      return repeatEvery(turnMs / renewalsPerTurn, () => reachable(() => renew(turn), undefined))
    },
    note: (server, model, findings) => reachable(() => write(keysOf(server, model).found, findings), undefined),
    rest(server, model, findings, restMs) {
      const { turn, found } = keysOf(server, model)
      marks.delete(turn)
      const rest = async () => {
        await write(found, findings)
        await redis.set(turn, resting, 'PX', Math.ceil(restMs))
      }
      return reachable(rest, undefined)
    },
    doubt(server, model) {
      const { turn, doubted } = keysOf(server, model)
      const doubt = async () => {
        const isFirst = (await redis.set(doubted, '1', 'PX', doubtMs, 'NX')) === 'OK'
        if (isFirst && (await redis.get(turn)) === resting) await redis.del(turn)
      }
      return reachable(doubt, undefined)
    },
  }
}

const alone: Turn = { kind: 'mine', known: undefined }

async function takeTurn(
  redis: RedisClient,
  keys: { turn: string; found: string },
  { mark, turnMs }: { mark: string; turnMs: number },
): Promise<Turn> {
  // The answer may be lost and the command sent again: whose turn it is says the mark.
  await redis.set(keys.turn, mark, 'PX', turnMs, 'NX')
  const [held, found, leftMs] = await Promise.all([redis.get(keys.turn), redis.get(keys.found), redis.pttl(keys.turn)])
  const known = Findings.safeParse(parseJson(found ?? '')).data
  if (held === mark) return { kind: 'mine', known }
  if (held !== resting || leftMs <= 0) return { kind: 'others', known }
  return known === undefined ? alone : { kind: 'rest', known, restMs: leftMs }
}

async function reachable<T>(work: () => Promise<T>, away: T): Promise<T> {
  const signal = new AbortController().signal
  const done = work().catch(() => away)
  return withinLimit(done, { limitMs: patienceMs, signal, late: () => away })
}
