import { z } from 'zod'
import { ProjectId } from '#domain/ids.ts'
import { parseJson } from '#domain/json.ts'
import { fullNameOf, HostedRepository } from '#domain/repository-source.ts'
import { orStoreError } from '#store/ledger/store.ts'
import type { RedisClient } from '#platform/redis-client.ts'

export const Installation = z.strictObject({
  installationId: z.int(),
  projectId: ProjectId,
  account: z.string(),
  isSuspended: z.boolean().default(false),
})
export type Installation = z.infer<typeof Installation>

export type InstalledRepository = HostedRepository & Pick<Installation, 'installationId' | 'projectId'>

export type Installations = ReturnType<typeof openInstallations>

type Redis = Pick<RedisClient, 'eval' | 'hget' | 'hgetall' | 'hset' | 'hdel'>
type Name = Pick<HostedRepository, 'owner' | 'name'>

/** Some accounts give an installation thousands of repositories. */
const sliceSize = 500

/** ARGV: the installation, what the caller has read of it ('' for nothing), what it is to be. */
const putIfSame = `
if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1`

const Kept = HostedRepository.extend({ installationId: z.int() })

/** Only the publisher adds to it. */
export function openInstallations(redis: Redis, namespace = 'remora') {
  const { find, list, update, remove } = openRecords(redis, `${namespace}:{github}:installations`)
  const repositories = openRepositories(redis, namespace)
  return {
    find,
    list,
    addRepositories: repositories.add,
    removeRepositories: repositories.remove,
    listRepositories: repositories.list,
    repositoryNamed: repositories.find,
    /** The project of a known installation stays as it is. */
    async note(installation: Installation): Promise<Installation> {
      return update(installation.installationId, (before) => {
        return { ...installation, projectId: before?.projectId ?? installation.projectId }
      })
    },
    /** Its later runs are there. False for an unknown one. */
    async assign(installationId: number, projectId: ProjectId): Promise<boolean> {
      return (await update(installationId, (before) => before && { ...before, projectId })) !== undefined
    },
    async remove(installationId: number): Promise<void> {
      await remove(installationId)
      const all = await repositories.list()
      await repositories.remove(all.filter((repository) => repository.installationId === installationId))
    },
    /** A known id decides: the repository may have another name by now. */
    async findRepository(
      projectId: ProjectId,
      repository: Name & Partial<Pick<HostedRepository, 'id'>>,
    ): Promise<InstalledRepository | undefined> {
      const { id } = repository
      const named = await repositories.find(repository)
      const isMeant = named !== undefined && (id === undefined || named.id === id)
      const kept = isMeant ? named : (await repositories.list()).find((known) => known.id === id)
      const installation = kept && (await find(kept.installationId))
      if (kept === undefined || installation === undefined || installation.isSuspended) return undefined
      return installation.projectId === projectId ? { ...kept, projectId } : undefined
    },
  }
}

function openRecords(redis: Redis, key: string) {
  const readText = async (id: number) => (await orStoreError(redis.hget(key, String(id)))) ?? ''
  const parsed = (text: string) => Installation.safeParse(parseJson(text)).data
  return {
    async find(id: number): Promise<Installation | undefined> {
      return parsed(await readText(id))
    },
    async list(): Promise<Installation[]> {
      return Object.values(await orStoreError(redis.hgetall(key))).flatMap((text) => parsed(text) ?? [])
    },
    /** Writes what `change` makes of what is kept, unless it makes nothing: again when another process has written meanwhile. */
    async update<Next extends Installation | undefined>(
      id: number,
      change: (before: Installation | undefined) => Next,
    ): Promise<Next> {
      for (;;) {
        const text = await readText(id)
        const next = change(parsed(text))
        if (next === undefined) return next
        const args = [String(id), text, JSON.stringify(next)]
        if ((await orStoreError(redis.eval(putIfSame, 1, key, ...args))) === 1) return next
      }
    },
    async remove(id: number): Promise<void> {
      await orStoreError(redis.hdel(key, String(id)))
    },
  }
}

/** Names are unique at a host, in whatever case they are written. */
function openRepositories(redis: Redis, namespace: string) {
  const key = `${namespace}:{github}:repositories`
  const fieldOf = (repository: Name) => fullNameOf(repository).toLowerCase()
  const parsed = (text: string | null) => Kept.safeParse(parseJson(text ?? '')).data
  return {
    async find(repository: Name) {
      return parsed(await orStoreError(redis.hget(key, fieldOf(repository))))
    },
    async list() {
      return Object.values(await orStoreError(redis.hgetall(key))).flatMap((text) => parsed(text) ?? [])
    },
    async add(installationId: number, repositories: readonly HostedRepository[]): Promise<void> {
      const kept = repositories.map(({ id, owner, name }) => ({ id, owner, name, installationId }))
      for (const some of slices(kept)) {
        const fields = some.map((record) => [fieldOf(record), JSON.stringify(record)] as const)
        await orStoreError(redis.hset(key, Object.fromEntries(fields)))
      }
    },
    async remove(repositories: readonly Name[]): Promise<void> {
      for (const some of slices(repositories)) await orStoreError(redis.hdel(key, ...some.map(fieldOf)))
    },
  }
}

function* slices<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let first = 0; first < items.length; first += sliceSize) yield items.slice(first, first + sliceSize)
}
