import { RemoraProblem } from '#client/connection.ts'
import type { QueuePage, WorkerPage, WorkerView } from '#schemas/worker-schema.ts'
import type { z } from 'zod'
import { usePage } from '../page-context.ts'
import { DataTable, LoadState, PageHead, Since } from '../parts/shown.tsx'
import { useLoaded } from '../parts/use-loaded.ts'

type Seen = z.infer<typeof WorkerPage> & z.infer<typeof QueuePage>

const queuesColumns = [['Queue'], ['Waiting', 'num'], ['Active', 'num'], ['Put off', 'num']] as const
const workersColumns = [
  ['Worker'],
  ['Version'],
  ['Started'],
  ['Slots', 'num'],
  ['Requests waiting', 'num'],
  ['Models'],
  ['Object store'],
] as const
const serversColumns = [
  ['Server'],
  ['In flight', 'num'],
  ['Limit now', 'num'],
  ['At most', 'num'],
  ['Breakers'],
] as const

/** Shows the workers that live, the model servers as each of them sees it, and the queues. Only the operator's token may see them. */
export function FleetPage() {
  const { connection } = usePage()
  const { value, error, again } = useLoaded('fleet', async (signal) => {
    const [workers, queues] = await Promise.all([
      connection.json<z.infer<typeof WorkerPage>>('/v1/workers', { signal }),
      connection.json<z.infer<typeof QueuePage>>('/v1/queues', { signal }),
    ])
    return { ...workers, ...queues }
  })
  const isForbidden = error instanceof RemoraProblem && error.code === 'AUTH_002'
  return (
    <>
      <PageHead title="Fleet">
        <button onClick={again}>Look again</button>
      </PageHead>
      {isForbidden && (
        <p class="notice">
          Workers and queues are shared by all projects: only the token that the service was started with shows them.
        </p>
      )}
      {!isForbidden && <LoadState {...{ value, error, again }} />}
      {value && <Fleet seen={value} />}
    </>
  )
}

function Fleet({ seen: { workers, queues } }: { seen: Seen }) {
  return (
    <div class="stack">
      <section>
        <h2>Workers</h2>
        {workers.length === 0 ? (
          <p class="notice">No worker lives: nothing moves until one is started.</p>
        ) : (
          <DataTable label="Workers" columns={workersColumns} rows={workers.map(workerRow)} />
        )}
      </section>
      <section>
        <h2>Model servers</h2>
        <Servers workers={workers} />
      </section>
      <section>
        <h2>Queues</h2>
        <DataTable
          label="Queues"
          columns={queuesColumns}
          rows={queues.map(({ queue, waiting, active, delayed }) => [queue, waiting, active, delayed])}
        />
      </section>
    </div>
  )
}

function workerRow(worker: WorkerView) {
  return [
    <span class="mono">{worker.worker_id}</span>,
    worker.version,
    <Since ts={worker.started_at} />,
    worker.slots,
    worker.requests_waiting,
    worker.models.map(modelText).join(', '),
    worker.object_store ?? 'works',
  ]
}

function modelText({ model, is_working: isWorking, away_since: since }: WorkerView['models'][number]): string {
  if (isWorking === null) return `${model}: not judged yet`
  return isWorking ? `${model}: works` : `${model}: away since ${since ?? 'a moment'}`
}

/** Adds up what the workers have at each server. */
function Servers({ workers }: { workers: readonly WorkerView[] }) {
  const byUrl = Map.groupBy(
    workers.flatMap(({ servers }) => servers),
    ({ url }) => url,
  )
  if (byUrl.size === 0) return <p class="quiet">No worker has a model server.</p>
  const rows = [...byUrl].map(([url, seen]) => [
    <span class="mono">{url}</span>,
    sumOf(seen.map((server) => server.in_flight)),
    sumOf(seen.map(({ limit }) => limit)),
    Math.max(...seen.map((server) => server.max_in_flight)),
    breakersOf(seen),
  ])
  return <DataTable label="Servers" columns={serversColumns} rows={rows} />
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0)
}

function breakersOf(seen: readonly WorkerView['servers'][number][]): string {
  const notClosed = seen.filter(({ breaker }) => breaker !== 'closed').length
  return notClosed === 0 ? 'closed' : `not closed at ${notClosed} of ${seen.length} workers`
}
