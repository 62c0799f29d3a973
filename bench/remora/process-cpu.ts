import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { repeatEvery } from '#platform/clock.ts'

/** CPU of a process (its main thread apart, too) and of all that it has started, user and system, in ms since they started. */
export type ProcessCpu = { own: number; mainThread: number; children: number }

/** /proc counts in ticks of USER_HZ, which is 100 on every Linux. */
const msPerTick = 10

/** Reads /proc, so on Linux only. All threads count; a child that has ended counts once its parent has waited for it. */
export function processCpu(pid: number): ProcessCpu {
  const own = statOf(`${pid}`)
  if (own === undefined) throw new Error(`process ${pid} has ended`)
  const children = descendantsOf(pid).reduce((sum, child) => sum + (statOf(`${child}`)?.ownMs ?? 0), own.waitedForMs)
  return { own: own.ownMs, mainThread: statOf(`${pid}/task/${pid}`)?.ownMs ?? 0, children }
}

export function cpuBetween(before: ProcessCpu, after: ProcessCpu): ProcessCpu {
  return {
    own: after.own - before.own,
    mainThread: after.mainThread - before.mainThread,
    children: after.children - before.children,
  }
}

/** How long threads ran, and were ready to run while others had the CPU, in ms since they started. */
export type ThreadTimes = { ranMs: number; waitedMs: number }

/** Of the threads of process `pid` with this name: its first 15 characters. */
export function threadTimes(pid: number, name: string): ThreadTimes {
  const own = readdirSync(`/proc/${pid}/task`).filter((id) => readText(`/proc/${pid}/task/${id}/comm`)?.trim() === name)
  const times = own.map((id) => (readText(`/proc/${pid}/task/${id}/schedstat`) ?? '0 0').split(' ').map(Number))
  const sumOf = (at: number) => times.reduce((sum, time) => sum + (time[at] ?? 0), 0) / 1e6
  return { ranMs: sumOf(0), waitedMs: sumOf(1) }
}

/** The most memory that a process had so far, in MB, as the kernel counts its resident pages; 0 once it has ended. */
export function peakMb(pid: number): number {
  const kilobytes = /^VmHWM:\s+(\d+)/m.exec(readText(`/proc/${pid}/status`) ?? '')?.[1]
  return (Number(kilobytes ?? 0) * 1024) / 1e6
}

const watchEveryMs = 100

/** Follows all that this process starts. The function it returns ends that and gives the most memory of each, in MB, by the program's name. */
export function watchPeaks(): () => Promise<[program: string, mb: number][]> {
  const peaks = new Map<string, number>()
  const look = () => {
    for (const pid of descendantsOf(process.pid)) {
      const [program, mb] = [programOf(pid), peakMb(pid)]
      if (mb > (peaks.get(program) ?? 0)) peaks.set(program, mb)
    }
  }
  const stop = repeatEvery(watchEveryMs, async () => look())
  return async () => {
    await stop()
    return [...peaks]
  }
}

const repository = fileURLToPath(new URL('../../', import.meta.url))

/** `services/worker/main.ts`, `redis-server`: the file that Node runs, from the repository's root where it is there; else the program. */
function programOf(pid: number): string {
  const [program = '', ...args] = (readText(`/proc/${pid}/cmdline`) ?? '').split('\0')
  const file = args.find((arg) => arg !== '' && !arg.startsWith('-'))
  if (basename(program) !== 'node' || file === undefined) return basename(program.split(' ')[0] ?? '')
  return file.startsWith(repository) ? file.slice(repository.length) : basename(file)
}

function descendantsOf(pid: number): number[] {
  const all = readdirSync('/proc').map(Number).filter(Number.isInteger)
  const parents = new Map(all.map((one) => [one, statOf(`${one}`)?.parent]))
  const found = [pid]
  for (const at of found) for (const [one, parent] of parents) if (parent === at) found.push(one)
  return found.slice(1)
}

/** Undefined when the process does not exist. The name in parentheses may hold anything, so fields are counted after it. */
function statOf(place: string): { parent: number; ownMs: number; waitedForMs: number } | undefined {
  const text = readText(`/proc/${place}/stat`)
  if (text === undefined) return undefined
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const ticks = (from: number) => ((fields[from] ?? 0) + (fields[from + 1] ?? 0)) * msPerTick
  return { parent: fields[1] ?? 0, ownMs: ticks(11), waitedForMs: ticks(13) }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/** The part of V8's CPU profile that is read; times are in µs of the clock that `process.hrtime` shows. */
const CpuProfile = z.object({
  nodes: z.array(
    z.object({
      id: z.int(),
      callFrame: z.object({ functionName: z.string(), url: z.string() }),
      children: z.array(z.int()).default([]),
    }),
  ),
  startTime: z.number(),
  samples: z.array(z.int()),
  timeDeltas: z.array(z.number()),
})

/** Area by the file of a frame; the first that matches. Paths are relative to the repository. */
const areas: readonly (readonly [area: string, file: RegExp])[] = [
  ['zod', /node_modules\/zod\//],
  ['evidence, languages: tree-sitter', /stages\/operate\/evidence\/|\/languages\/|node_modules\/web-tree-sitter\//],
  ['HTTP of model and S3: undici', /node_modules\/undici\//],
  ['model client', /\/models\/|node_modules\/openai\//],
  ['S3 client', /store\/objects\/(?:s3|blob)|node_modules\/(?:@aws|@smithy|fast-xml|@nodable|uuid|tslib)/],
  [
    'Redis: BullMQ, ioredis',
    /store\/queues\/|node_modules\/(?:bullmq|ioredis|redis-parser|@ioredis|msgpackr|denque)\//,
  ],
  ['redaction', /platform\/secrets\//],
  ['ledger commands and codec', /store\/ledger\/|platform\/redis-client/],
  ['script pool and its IPC', /\/tool-scripts\//],
  ['prompts', /\/bundles\/|node_modules\/(?:nunjucks|asap)\//],
  ['change sets', /domain\/[\w-]*edits|node_modules\/diff\//],
  ['agent, tools, operation, records', /\/stages\/|\/services\/|\/agents\/|\/domain\/|store\/objects\//],
  ['S3 client', /^node:(?:_http|internal\/http)/],
]
const garbageCollector = 'garbage collection'
const nodeItself = 'Node: sockets, promises, timers'
const other = 'other'

/**
 * Where a process spent its CPU between two moments, as shares that add up to 1. A sample counts for the innermost
 * frame whose file has an area, so what Node does for a library counts as the library's. Idle time is left out.
 */
export function profileAreas(profileFile: string, between: { fromUs: number; toUs: number }): Map<string, number> {
  const profile = CpuProfile.parse(JSON.parse(readFileSync(profileFile, 'utf8')))
  const areaOf = areasByNode(profile)
  const spent = new Map<string, number>()
  let at = profile.startTime
  let total = 0
  for (const [index, id] of profile.samples.entries()) {
    at += profile.timeDeltas[index] ?? 0
    const area = areaOf.get(id)
    if (area === undefined || at < between.fromUs || at > between.toUs) continue
    const length = profile.timeDeltas[index + 1] ?? 0
    spent.set(area, (spent.get(area) ?? 0) + length)
    total += length
  }
  const sorted = [...spent].toSorted(([, one], [, another]) => another - one)
  return new Map(sorted.map(([area, time]) => [area, time / total]))
}

/** Nodes without an entry are idle. */
function areasByNode({ nodes }: z.infer<typeof CpuProfile>): Map<number, string> {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const found = new Map<number, string>()
  const open = nodes.slice(0, 1).map((node) => ({ node, inherited: nodeItself }))
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { functionName, url } = next.node.callFrame
    const area = ownArea(functionName, url) ?? next.inherited
    if (functionName !== '(idle)') found.set(next.node.id, area)
    for (const id of next.node.children) {
      const node = byId.get(id)
      if (node !== undefined) open.push({ node, inherited: area })
    }
  }
  return found
}

function ownArea(functionName: string, url: string): string | undefined {
  if (functionName === '(garbage collector)') return garbageCollector
  const file = url.startsWith('file:') ? fileURLToPath(url) : url
  const area = areas.find(([, pattern]) => pattern.test(file))?.[0]
  if (area !== undefined) return area
  // WebAssembly is its caller's: tree-sitter's for evidence, the HTTP parser for undici.
  return file === '' || /^(?:node|wasm):/.test(file) ? undefined : other
}
