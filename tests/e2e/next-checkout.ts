import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { repository } from './program.ts'

/** What a next version of this code would differ in: it writes newer runs and jobs, and reads today's as well. */
const changes = [
  { file: 'core/domain/run.ts', from: 'export const runSchema = 3', to: 'export const runSchema = 4' },
  { file: 'core/ledger/keys.lua', from: 'local known_schema = 3', to: 'local known_schema = 4' },
  { file: 'core/queues/catalog.ts', from: 'const payloadVersion = 1', to: 'const payloadVersion = 2' },
  { file: 'core/queues/catalog.ts', from: 'z.literal(payloadVersion)', to: 'z.literal([1, payloadVersion])' },
] as const

const parts = ['agents', 'cli', 'core', 'queries', 'scripts', 'services', 'package.json']

/** A second checkout beside this one, a version ahead of it. `path` ends with a slash. */
export async function nextCheckout(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'remora-next-'))
  for (const part of parts) await cp(join(repository, part), join(path, part), { recursive: true })
  await symlink(join(repository, 'node_modules'), join(path, 'node_modules'))
  for (const { file, from, to } of changes) {
    const text = await readFile(join(path, file), 'utf8')
    if (!text.includes(from)) throw new Error(`${file} no longer holds what the next version changes: ${from}`)
    await writeFile(join(path, file), text.replaceAll(from, to))
  }
  return { path: `${path}/`, remove: () => rm(path, { recursive: true, force: true }) }
}
