import { z } from 'zod'
import { defaultProject, ProjectId } from '#domain/ids.ts'
import { parseJson } from '#domain/json.ts'
import { orStoreError } from '#store/ledger/store.ts'

/** `createdAt` is in ms since the epoch; null for `default`, and where the record is damaged. */
export type Project = { projectId: ProjectId; createdAt: number | null }

export type ProjectStore = {
  find(projectId: ProjectId): Promise<Project | undefined>
  /** `default` comes first, the others by id. */
  list(): Promise<Project[]>
  /** Stores nothing when there is one of this id, or there are `maxProjects` already. */
  add(projectId: ProjectId, nowMs: number): Promise<'added' | 'there already' | 'no room'>
}

export const maxProjects = 1_000

type Hashes = {
  hget(key: string, field: string): Promise<string | null>
  hgetall(key: string): Promise<Record<string, string>>
  eval(script: string, keyCount: number, ...keysAndArgs: string[]): Promise<unknown>
}

const Stored = z.object({ createdAt: z.int().min(0) })
const Added = z.enum(['added', 'there already', 'no room'])

const addIfNew = `
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then return 'there already' end
if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then return 'no room' end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 'added'`

/** `default` is always a project, and is not stored. */
export function openProjectStore(redis: Hashes, namespace = 'remora'): ProjectStore {
  const key = `${namespace}:{tokens}:projects`
  const first: Project = { projectId: defaultProject, createdAt: null }
  const projectOf = (projectId: ProjectId, text: string): Project => {
    const { createdAt = null } = Stored.safeParse(parseJson(text)).data ?? {}
    return { projectId, createdAt }
  }
  return {
    async find(projectId) {
      if (projectId === defaultProject) return first
      const text = await orStoreError(redis.hget(key, projectId))
      return text === null ? undefined : projectOf(projectId, text)
    },
    async list() {
      const stored = Object.entries(await orStoreError(redis.hgetall(key)))
      const projects = stored.map(([projectId, text]) => projectOf(ProjectId.parse(projectId), text))
      return [first, ...projects.toSorted((a, b) => (a.projectId < b.projectId ? -1 : 1))]
    },
    async add(projectId, nowMs) {
      if (projectId === defaultProject) return 'there already'
      const args = [projectId, JSON.stringify({ createdAt: nowMs }), String(maxProjects)]
      return Added.parse(await orStoreError(redis.eval(addIfNew, 1, key, ...args)))
    },
  }
}
