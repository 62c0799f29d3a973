import type { PartCheck } from '#platform/readiness.ts'
import type { RedisClient } from '#platform/redis-client.ts'
import { runKeys } from './keys.ts'

const redisServices = ['api', 'discovery', 'publisher', 'worker', 'setup', 'conductor', 'watcher'] as const
export type RedisService = (typeof redisServices)[number]
/** `reader`: programs of others that read the ranges of the events of all runs as a group. */
export type RedisUser = RedisService | 'reader'

type Rights = { writes: readonly string[]; reads?: readonly string[] }

/** Refuses to administer the server, to touch all keys at once, and functions, which would run with somebody else's rights. */
const commands = '+@all -@admin -@dangerous -function -fcall -fcall_ro +info +acl|whoami'

const namespace = 'remora'
const run = runKeys(namespace, 'r*')
/** Every key of a run but what people have decided, what its conductor has, and what was asked of the publisher. */
const ofOperations = [run.operation, run.node, run.after, run.talk].map((key) => key('*'))
const runState = [...run.scripted, run.policyDecisions, ...ofOperations]
const watched = [run.watch, run.watching]
const people = [run.decisions, run.publication]
const asked = [run.asks, run.answering]
/** What the answers to asks have used is counted for the day of the project, also when the run has ended. */
const spent = ['counted', 'spent:*', 'grants:*', 'budgets'].map((name) => `{${namespace}:results}:${name}`)
/** The index of runs, workers, models that are wanted, and the collection of objects. */
const shared = [`${namespace}:{all}:*`]
const models = [`${namespace}:{slots}:*`]
const results = [`${namespace}:results`, `{${namespace}:results}:*`]
const told = [`${namespace}:events`, `{${namespace}:events}:*`]
/** Covers queues by their names in store/queues/catalog.ts. */
const queues = (...names: readonly string[]) => names.map((name) => `{${namespace}}:${name}:*`)

const rights: Readonly<Record<RedisService, Rights>> = {
  api: {
    writes: [
      ...runState,
      ...people,
      run.asks,
      ...shared,
      ...results,
      `${namespace}:{tokens}:*`,
      `${namespace}:{*}:idempotency:*`,
      ...['inbox', 'handled', 'seen:*', 'installations'].map((name) => `${namespace}:{github}:${name}`),
      ...queues('snapshots', 'patches', 'publications', 'conductor'),
    ],
    reads: [run.agenda, run.answering, `${namespace}:{github}:repositories`, ...told],
  },
  discovery: {
    writes: [
      ...runState,
      run.agenda,
      ...people,
      ...shared,
      ...results,
      ...told,
      ...watched,
      ...asked,
      ...queues(
        'snapshots',
        'discoveries',
        'setups',
        'operations',
        'compositions',
        'patches',
        'publications',
        'conductor',
      ),
    ],
  },
  publisher: {
    writes: [
      ...runState,
      ...people,
      ...shared,
      `${namespace}:{github}:*`,
      ...queues('snapshots', 'patches', 'publications'),
    ],
    reads: [run.agenda],
  },
  worker: {
    writes: [...runState, ...shared, ...models, ...queues('operations', 'compositions', 'patches')],
    reads: people,
  },
  setup: { writes: [...runState, ...shared, ...queues('setups')], reads: people },
  conductor: {
    writes: [...runState, run.agenda, ...asked, ...spent, ...shared, ...models, ...queues('conductor')],
    reads: people,
  },
  watcher: { writes: [...runState, ...watched, ...shared, ...models, `${namespace}:events`], reads: people },
}

/** Reads, acknowledges and looks at a group, which an operator has made, and takes over what another reader of it has left. */
const readerCommands = '+xreadgroup +xack +xpending +xautoclaim +xinfo +ping +hello +info'

export function redisUser(user: RedisUser): string {
  return `remora-${user}`
}

/** Returns the lines of an ACL file, infra/redis-users.acl: a user for each service, one for readers, and none for who names no user. */
export function aclFile(passwordOf = (user: RedisUser) => `PASSWORD_${user}`): string {
  const users = redisServices.map((service) => {
    const { writes, reads = [] } = rights[service]
    const keys = [...writes.map((key) => `~${key}`), ...reads.map((key) => `%R~${key}`)]
    return `user ${redisUser(service)} on >${passwordOf(service)} ${keys.join(' ')} resetchannels &${namespace}:* -@all ${commands}`
  })
  const reader = `user ${redisUser('reader')} on >${passwordOf('reader')} ~${namespace}:events resetchannels -@all ${readerCommands}`
  return `${['user default off', ...users, reader].join('\n')}\n`
}

/** Says whether a service has a user of its own in Redis, and if not what that leaves to one that was taken over (SECURITY.md). */
export function redisUserCheck(redis: RedisClient, service: RedisService): PartCheck {
  return async () => {
    const user = await redis.acl('WHOAMI')
    if (user === redisUser(service)) return { state: 'ok', message: 'this service has its own user' }
    return { state: 'ok', message: unprotected }
  }
}

const unprotected =
  'all services share one user of Redis: a worker that was taken over could restore earlier decisions and requests of a run, and delete decisions (SECURITY.md)'
