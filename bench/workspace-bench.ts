import { parseArgs } from 'node:util'
import type { ChangeSet } from '#domain/change-set.ts'
import { changeSetId, sha256 } from '#domain/ids.ts'
import { type BaseFiles, type BaseLayer, baseLayerOf } from '#stages/operate/workspace/base-layer.ts'
import { openBuiltLayer } from '#stages/operate/workspace/built-layer.ts'
import { openWorkspace } from '#stages/operate/workspace/open-workspace.ts'
import { type Column, median, saveReport, sectionHead, spread, table, verdict } from './reports/markdown-report.ts'

/**
 * `node bench/workspace-bench.ts`: what one attempt's workspace costs over a snapshot of 10,000 files: open it, read ten files, write
 * two, and make the change set. Writes results/workspace.md; with `--quick` it only prints, after fewer rounds.
 */
const { quick } = parseArgs({ options: { quick: { type: 'boolean', default: false } } }).values
const rounds = quick ? 50 : 2_000
const [fileCount, reads, writes, earlierSets] = [10_000, 10, 2, 10]
const aimMs = 1

const pathOf = (at: number) => `src/package_${at % 100}/module_${at}.py`
const textOf = (at: number) => Array.from({ length: 60 }, (_none, line) => `value_${line} = ${at + line}\n`).join('')

const texts = new Map(Array.from({ length: fileCount }, (_none, at) => [pathOf(at), textOf(at)]))
const blobs = new Map([...texts.values()].map((text) => [sha256(text), Buffer.from(text)]))

/** As the worker reads it from the object store once; the blobs that an attempt reads are cached there. */
function snapshotOf(): BaseFiles {
  const files = [...texts].map(([path, text]) => ({ path, hash: sha256(text) }))
  const byPath = new Map(files.map((file) => [file.path, file]))
  return { files, links: [], skipped: [], find: (path) => byPath.get(path) }
}

const get = async (_project: string, hash: string) => blobs.get(hash) ?? Promise.reject(new Error(`no blob ${hash}`))
const layerOf = (files: BaseFiles): BaseLayer => baseLayerOf(files, { get }, 'p')

const edited = (text: string) => text.replace('value_30 = ', 'value_30: int = ')

async function attempt(base: BaseLayer, at: number): Promise<void> {
  const workspace = openWorkspace(base)
  for (let read = 0; read < reads; read += 1) await workspace.readText(pathOf((at + read) % fileCount))
  for (let write = 0; write < writes; write += 1) {
    const path = pathOf((at + write) % fileCount)
    await workspace.writeText(path, edited(await workspace.readText(path)))
  }
  const changes = await workspace.changes()
  if (changes.length !== writes) throw new Error(`${changes.length} files changed`)
}

/** The least that a copy for each attempt costs: all names and texts in a new Map, and no change set. */
function plainCopy(at: number): void {
  const copy = new Map(texts)
  for (let write = 0; write < writes; write += 1) {
    const path = pathOf((at + write) % fileCount)
    copy.set(path, edited(copy.get(path) ?? ''))
  }
  if (copy.size !== fileCount) throw new Error('a file is missing')
}

async function timed(work: (at: number) => Promise<void> | void, times: number): Promise<number[]> {
  const took: number[] = []
  for (let at = 0; at < times; at += 1) {
    const begin = performance.now()
    await work(at * 7)
    took.push(performance.now() - begin)
  }
  return took
}

/** Of an operation on each of the files that an attempt at 0 reads. */
function setAt(at: number): ChangeSet {
  const operationId = `o${sha256(`bench ${at}`).slice(0, 16)}`
  const text = texts.get(pathOf(at)) ?? ''
  const edit = { start: 0, end: 0, text: '# checked\n' }
  const files = [{ kind: 'edit' as const, path: pathOf(at), baseHash: sha256(text), edits: [edit] }]
  const id = changeSetId(operationId, files)
  return { changeSetId: id, operationId, bundle: 'bench', nodeId: 'n0000000000000000', files, evidence: [] }
}

type Row = { name: string; ms: readonly number[]; isAim: boolean }

const columns: readonly Column<Row>[] = [
  ['', ({ name }) => name],
  ['ms', spread(({ ms }) => ms, 3)],
  ['aim', ({ ms, isAim }) => (isAim ? `≤ ${aimMs}: ${verdict(median(ms) <= aimMs)}` : '')],
]

const snapshot = snapshotOf()
const sets = Array.from({ length: earlierSets }, (_none, at) => setAt(at))
const rows: Row[] = [
  {
    name: 'the first workspace of a snapshot',
    ms: await timed((at) => attempt(layerOf(snapshotOf()), at), 10),
    isAim: false,
  },
  { name: 'every other one', ms: await timed((at) => attempt(layerOf(snapshot), at), rounds), isAim: true },
  {
    name: `one on top of ${earlierSets} change sets`,
    ms: await timed(async (at) => attempt(await openBuiltLayer(layerOf(snapshot), sets), at), rounds),
    isAim: true,
  },
  { name: 'a copied Map with two changed texts', ms: await timed(plainCopy, rounds), isAim: false },
]

await saveReport(
  'workspace',
  `${sectionHead('The workspace of an attempt', { command: 'node bench/workspace-bench.ts' })}
Opened over a snapshot of ${fileCount} files of 1 kB, whose blobs are in the worker's cache; then ${reads} files are read, ${writes} written, and the
change set is made, without evidence. Medians (least–most) of ${rounds} rounds, 10 for the first row. Below them, what a copy of all names and
texts for each attempt would cost, without a change set.

${table(columns, rows)}
`,
  { quick },
)
