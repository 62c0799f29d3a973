import { join } from 'node:path'
import { z } from 'zod'
import type { BundleFile } from '#domain/agent-bundle.ts'
import { AppError } from '#domain/error.ts'
import { parseJson } from '#domain/json.ts'
import type { RedisClient } from '#platform/redis-client.ts'
import { nearest } from '#platform/nearest.ts'
import { agentFolders, readSource } from './bundle-files.ts'
import { bundleInvalid, readBundleYaml, type BundleFault } from './bundle-yaml.ts'

export type FindableNodes = { nodeKinds: ReadonlySet<string>; languages: ReadonlySet<string> }

type NameFault = { at: (string | number)[]; message: string }

/** The node kinds and languages of a bundle that no query pack has, each with the name that was probably meant. */
export function findNameFaults(
  { node_kinds: kinds, languages }: Pick<BundleFile, 'node_kinds' | 'languages'>,
  findable: Partial<FindableNodes>,
): NameFault[] {
  const unknown = (key: string, names: readonly string[], known: ReadonlySet<string> | undefined, what: string) =>
    names.flatMap((name, index): NameFault[] =>
      known?.has(name) === false ? [{ at: [key, index], message: `${what} ${name}${suggestion(name, known)}` }] : [],
    )
  return [
    ...unknown('node_kinds', kinds, findable.nodeKinds, 'no query pack finds nodes of kind'),
    ...unknown('languages', languages, findable.languages, 'there is no language'),
  ]
}

function suggestion(name: string, known: ReadonlySet<string>): string {
  const near = nearest(name, [...known])
  return near === undefined ? `; known: ${[...known].toSorted().join(', ')}` : `; did you mean ${near}?`
}

/** Throws AGENT_001 when a named bundle has an unknown node kind or language. One that cannot be read passes: discovery refuses it. */
export async function requireFindable(
  names: readonly string[],
  dir: string | undefined,
  findable: FindableNodes,
): Promise<void> {
  const faults: BundleFault[] = []
  const folders = await agentFolders(dir)
  for (const name of names) {
    const folder = folders.get(name)
    if (folder === undefined) continue
    const path = join(folder, 'bundle.yaml')
    const read = await readSource(path)
    if (!('source' in read)) continue
    const { file, placeOf } = readBundleYaml(path, read.source)
    if (file === undefined) continue
    for (const { at, message } of findNameFaults(file, findable))
      faults.push({ file: `${name}/bundle.yaml`, ...placeOf(at), code: 'AGENT_001', message })
  }
  if (faults.length === 0) return
  const { code, message } = bundleInvalid(faults)
  throw new AppError(code, message, { detail: message, phase: 'grail_check' })
}

/** Throws INTAKE_008 for a node kind of a request that no query pack finds: its run would find nothing. */
export function requireKnownKinds(
  kinds: readonly string[] = [],
  { nodeKinds }: Pick<FindableNodes, 'nodeKinds'>,
): void {
  const [fault] = findNameFaults({ node_kinds: [...kinds], languages: [] }, { nodeKinds })
  if (fault !== undefined) throw new AppError('INTAKE_008', `request.${fault.at.join('.')}: ${fault.message}`)
}

const Announced = z.object({ node_kinds: z.array(z.string()), languages: z.array(z.string()) })
const keyOf = (namespace: string) => `${namespace}:{all}:findable`

/** Lets every process know what the query packs of discovery find; the latest announcement counts. */
export async function announceFindable(
  redis: Pick<RedisClient, 'set'>,
  { nodeKinds, languages }: FindableNodes,
  namespace = 'remora',
): Promise<void> {
  const announced: z.infer<typeof Announced> = { node_kinds: [...nodeKinds], languages: [...languages] }
  await redis.set(keyOf(namespace), JSON.stringify(announced))
}

/** Returns what discovery announced; undefined when it has not yet, or in a shape that this version does not know. */
export async function announcedFindable(
  redis: Pick<RedisClient, 'get'>,
  namespace = 'remora',
): Promise<FindableNodes | undefined> {
  const text = await redis.get(keyOf(namespace))
  const read = text === null ? undefined : Announced.safeParse(parseJson(text)).data
  return read && { nodeKinds: new Set(read.node_kinds), languages: new Set(read.languages) }
}
