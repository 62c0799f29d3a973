import { execFile } from 'node:child_process'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { repeatEvery } from '#platform/clock.ts'
import { openReleaser } from '#platform/service-process.ts'
import { openLedger } from '#store/ledger/ledger.ts'
import { openEventSegments } from '#store/objects/event-segments.ts'
import { openS3ObjectStore } from '#store/objects/s3-object-store.ts'
import { repository } from '../tests/program.ts'
import { newRun, redisVersion } from './ledger/bench-ledger.ts'
import { openBenchBrowser } from './page/bench-browser.ts'
import { measureHeap } from './page/measure-heap.ts'
import { measureInteractions } from './page/measure-interactions.ts'
import { builtFiles, type Load, type LoadedPlace, measureLoad } from './page/measure-loads.ts'
import { openPlayedWorkers } from './page/play-workers.ts'
import { openBenchStores, startBenchApi } from './remora/bench-stores.ts'
import { saveReport } from './reports/markdown-report.ts'
import { renderPage } from './reports/page-report.ts'

/**
 * `node bench/page-bench.ts`: the dashboard in a real Chromium, served by the API, with a run whose operations are claimed and settled without a
 * model: what is loaded, when it is seen, how long a person waits after a click or a key while rows are scrolled and events arrive, and its
 * memory while it follows the run. Writes results/page.md; with `--quick` it only prints, of a smaller run.
 */
const { quick } = parseArgs({ options: { quick: { type: 'boolean', default: false } } }).values
/** `heapEvents`: an hour at `rate` a second, if the page takes them in `heapLimitMs`. */
const scale = quick
  ? { operations: 5_000, events: 5_000, loads: 3, rounds: 1, rate: 200, heapEvents: 10_000, heapLimitMs: 15_000 }
  : { operations: 100_000, events: 20_000, loads: 3, rounds: 1, rate: 200, heapEvents: 720_000, heapLimitMs: 30_000 }
const otherRuns = 30
const token = 'only-for-the-page-bench'

const startedAt = performance.now()
const releaser = openReleaser()
try {
  await promisify(execFile)(process.execPath, ['scripts/build-dashboard.ts'], { cwd: repository })
  const stores = await openBenchStores(releaser)
  const { redis, s3 } = stores
  const objects = openS3ObjectStore({ ...s3, credentials: s3 })
  releaser.add('objects', async () => objects.close())
  const ledger = openLedger(redis, { archive: openEventSegments(objects) })
  const { origin } = await startBenchApi(stores, { REMORA_TOKEN: token, REMORA_REQUESTS_PER_SECOND: '0' })
  for (let made = 0; made < otherRuns; made += 1) await newRun(ledger)
  const workers = await openPlayedWorkers({ ledger, objects }, scale.operations)
  const { runId } = workers
  releaser.add(
    'archiver',
    repeatEvery(1_000, () => ledger.archiveEvents(runId)),
  )
  while ((await workers.seq()) < scale.events) await workers.burst()
  const browser = await openBenchBrowser(releaser)
  const linkTo = (place: string) => `${origin}/#/runs${place}&token=${token}`
  const link = linkTo(`/${runId}/operations`)
  const { operations } = scale
  const places: LoadedPlace[] = [
    { name: 'the runs', link: linkTo('') },
    { name: 'operations of the run', link, rows: operations },
  ]
  const loads: { place: LoadedPlace; loads: Load[] }[] = places.map((place) => ({ place, loads: [] }))
  const load: number[] = []
  const noteLoad = (part: string) => {
    load.push(loadavg()[0] ?? 0)
    process.stderr.write(`${part}, after ${Math.round((performance.now() - startedAt) / 1_000)} s\n`)
  }

  noteLoad('loads')
  for (let at = 0; at < scale.loads; at += 1)
    for (const { place, loads: own } of loads) own.push(await measureLoad(browser, place))
  noteLoad('interactions')
  const { rounds, rate, heapEvents: events, heapLimitMs: limitMs } = scale
  const interactions = await measureInteractions(browser, workers, { link, operations, rounds, rate })
  noteLoad('memory')
  const heap = await measureHeap(browser, workers, { link, operations, events, limitMs })
  const files = await builtFiles(join(repository, 'dashboard/dist'))
  const versions = { redisVersion: await redisVersion(redis), browserVersion: browser.version }
  const about = { ...scale, otherRuns, ...versions, load, tookMs: performance.now() - startedAt }
  await saveReport('page', renderPage({ files, loads, interactions, heap }, about), { quick })
  process.exitCode = interactions.faults.length + heap.faults.length === 0 ? 0 : 1
} finally {
  await releaser.release()
}
