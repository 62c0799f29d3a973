import { z } from 'zod'
import { ProjectId } from '#domain/ids.ts'
import { parseJson } from '#domain/json.ts'
import { fullNameOf, HostedRepository } from '#domain/repository-source.ts'
import { orStoreError } from '#ledger/store.ts'
import type { RedisClient } from '#platform/redis-client.ts'

/** The app in an account of GitHub. It belongs to one project. */
export const Installation = z.strictObject({
  installationId: z.int(),
  projectId: ProjectId,
  account: z.string(),
  isSuspended: z.boolean().default(false),
})
export type Installation = z.infer<typeof Installation>

/** A repository that an installation has been given. */
export type InstalledRepository = HostedRepository & Pick<Installation, 'installationId' | 'projectId'>

export type Installations = ReturnType<typeof openInstallations>

type Redis = Pick<RedisClient, 'hget' | 'hgetall' | 'hset' | 'hdel'>
type Name = Pick<HostedRepository, 'owner' | 'name'>

const Kept = HostedRepository.extend({ installationId: z.int() })

/** Which installations of the GitHub App there are, and which repositories these have been given. Only the publisher adds to it. */
export function openInstallations(redis: Redis, namespace = 'remora') {
  const key = `${namespace}:{github}:installations`
  const repositories = openRepositories(redis, namespace)
  const find = async (installationId: number): Promise<Installation | undefined> => {
    const text = await orStoreError(redis.hget(key, String(installationId)))
    return Installation.safeParse(parseJson(text ?? '')).data
  }
  const put = async (installation: Installation) => {
    await orStoreError(redis.hset(key, String(installation.installationId), JSON.stringify(installation)))
  }
  return {
    find,
    addRepositories: repositories.add,
    removeRepositories: repositories.remove,
    listRepositories: repositories.list,
    async list(): Promise<Installation[]> {
      const all = Object.values(await orStoreError(redis.hgetall(key)))
      return all.flatMap((text) => Installation.safeParse(parseJson(text)).data ?? [])
    },
    /** Notes an installation; its project stays the one that it has. */
    async note(installation: Installation): Promise<Installation> {
      const before = await find(installation.installationId)
      const next = { ...installation, projectId: before?.projectId ?? installation.projectId }
      await put(next)
      return next
    },
    /** Gives an installation to another project: its later runs are there. False for an unknown one. */
    async assign(installationId: number, projectId: ProjectId): Promise<boolean> {
      const before = await find(installationId)
      if (before === undefined) return false
      await put({ ...before, projectId })
      return true
    },
    async remove(installationId: number): Promise<void> {
      await orStoreError(redis.hdel(key, String(installationId)))
      const all = await repositories.list()
      await repositories.remove(all.filter((one) => one.installationId === installationId))
    },
    /** Undefined for a repository that no installation of this project has. */
    async findRepository(projectId: ProjectId, repository: Name): Promise<InstalledRepository | undefined> {
      const kept = await repositories.find(repository)
      const installation = kept && (await find(kept.installationId))
      if (kept === undefined || installation === undefined || installation.isSuspended) return undefined
      return installation.projectId === projectId ? { ...kept, projectId } : undefined
    },
  }
}

/** By their names: these are unique at a host, in whatever case they are written. */
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
      for (const { id, owner, name } of repositories) {
        const kept = { id, owner, name, installationId }
        await orStoreError(redis.hset(key, fieldOf(kept), JSON.stringify(kept)))
      }
    },
    async remove(repositories: readonly Name[]): Promise<void> {
      for (const one of repositories) await orStoreError(redis.hdel(key, fieldOf(one)))
    },
  }
}
