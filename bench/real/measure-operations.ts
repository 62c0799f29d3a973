import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parsePatch } from 'diff'
import { z } from 'zod'
import { sha256 } from '#domain/ids.ts'
import { loadLanguage } from '#languages/syntax/parser.ts'
import { OperationPage, type OperationView } from '#schemas/operation-schema.ts'
import { packFolder } from '../../tests/source-folder.ts'
import { PeerFigures } from '../peers/measure-peer.ts'
import { followRun, verifyRun } from '../remora/follow-run.ts'
import { type Moment, parts, startWholeSystem, type WholeSystem } from '../remora/whole-system.ts'
import type { RealTree } from '../subjects/real-trees.ts'
import type { DocstringWork } from './bare-docstrings-main.ts'
import { measureCommand } from './measure-command.ts'

export type OperationFigures = {
  redisVersion: string
  operations: number
  /** Operations that made a change set. */
  proposed: number
  requests: number
  tokens: number
  /** From the first operation to the last: CPU in ms by process, and what the stores were asked. */
  spent: Moment
  composition: { files: number; cpuMs: number; readingCpuMs: number }
  bare: { docstrings: number; cpuMs: number; tokens: number }
  peaksMb: [name: string, mb: number][]
  faults: string[]
}

export type OperationScale = { limit: number; slots: number }

const pollMs = 100
/** Operations of the run before: what its worker loads and starts is not measured. */
const warmUp = 20

/**
 * A run of docstring over the tree, with every service a process of its own and the rehearsal model (no LLM); then the least
 * loop over the same definitions, with the same model.
 */
export async function measureOperations(
  tree: RealTree,
  { limit, slots }: OperationScale,
  dir: string,
): Promise<OperationFigures> {
  const system = await startWholeSystem({ slots, countsRequests: true })
  try {
    const { api } = system.services
    const archive = await packFolder(tree.folder)
    const submit = (most: number) => api.submit(archive, { agents: ['docstring'], limits: { operations: most } })
    await followRun(system, await submit(warmUp), { pollMs })
    const runId = await submit(limit)
    const { state, reached } = await followRun(system, runId, { pollMs })
    const ended = reached.get('ended') ?? (await system.moment())
    const [started, review] = [reached.get('execution') ?? ended, reached.get('review') ?? ended]
    const peaksMb = system.peaksMb()
    const answer = await api.ask(`/v1/runs/${runId}/operations?limit=500`)
    const { operations } = OperationPage.parse(await answer.json())
    const patch = await (await api.ask(`/v1/runs/${runId}/patch`)).text()
    const files = parsePatch(patch).map(({ oldFileName = '' }) => oldFileName.replace(/^a\//, ''))
    return {
      redisVersion: system.redisVersion,
      operations: operations.length,
      proposed: operations.filter(({ outcome }) => outcome?.change_set_id !== undefined).length,
      requests: sum(operations, ({ outcome }) => outcome?.turns ?? 0),
      tokens: sum(operations, ({ outcome }) => (outcome?.tokens.prompt ?? 0) + (outcome?.tokens.completion ?? 0)),
      spent: between(started, review),
      composition: {
        files: files.length,
        cpuMs: ended.cpu.worker - review.cpu.worker,
        readingCpuMs: await readingCpu(tree, files),
      },
      bare: await measureBareLoop(system, { tree, operations, slots, dir }),
      peaksMb,
      faults: [
        ...(state.status === 'completed' ? [] : [`${tree.name}: the run is ${state.status}`]),
        ...(operations.length > 0 && files.length > 0 ? [] : [`${tree.name}: nothing was changed`]),
        ...(await verifyRun(system, runId)).fault,
      ],
    }
  } finally {
    await system.close()
  }
}

function sum(operations: readonly OperationView[], of: (operation: OperationView) => number): number {
  return operations.reduce((total, operation) => total + of(operation), 0)
}

function between(from: Moment, to: Moment): Moment {
  const cpu = { ...to.cpu }
  for (const part of parts) cpu[part] -= from.cpu[part]
  return {
    atMs: to.atMs - from.atMs,
    cpu,
    redis: { commands: to.redis.commands - from.redis.commands, scripts: to.redis.scripts - from.redis.scripts },
    storeRequests: to.storeRequests - from.storeRequests,
  }
}

/** Measures the files of a patch that are only read, the second time: bytes, hash, and one parse. */
async function readingCpu({ folder, language }: RealTree, files: readonly string[]): Promise<number> {
  const parser = await loadLanguage(language)
  const readAll = async () => {
    for (const file of files) {
      const bytes = await readFile(join(folder, file))
      sha256(bytes)
      parser.read(bytes.toString(), ({ rootNode }) => rootNode.hasError)
    }
  }
  await readAll()
  const before = process.cpuUsage()
  await readAll()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

const entry = fileURLToPath(new URL('bare-docstrings-main.ts', import.meta.url))
const BareFigures = PeerFigures.extend({ tokens: z.int() })

type BareLoop = { tree: RealTree; operations: readonly OperationView[]; slots: number; dir: string }

async function measureBareLoop(
  { services }: WholeSystem,
  { tree, operations, slots, dir }: BareLoop,
): Promise<OperationFigures['bare']> {
  const works = operations.map(({ node }): DocstringWork => {
    return { path: node.path, startLine: node.start_line, endLine: node.end_line }
  })
  const workFile = join(dir, 'works.json')
  await writeFile(workFile, JSON.stringify(works))
  const url = `${services.named('rehearsal').origin}/v1`
  const given = [url, tree.folder, tree.language, workFile, join(dir, 'written'), String(slots)]
  const { out } = await measureCommand([process.execPath, entry, ...given], { place: dir })
  const { cpuMs, tokens } = BareFigures.parse(JSON.parse(out))
  return { docstrings: works.length, cpuMs, tokens }
}
