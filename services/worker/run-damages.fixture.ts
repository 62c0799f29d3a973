import type { Operation } from '#domain/operation.ts'
import { indexKeys, resultKeys } from '#store/ledger/keys.ts'
import type { Invariant } from '#store/ledger/accounts.ts'
import type { AttemptRecord } from '#store/objects/attempt-record.ts'
import type { ComposedFile, Composition } from '#store/objects/composition.ts'
import { objectKeys } from '#store/objects/object-keys.ts'
import { getAttemptRecord, getComposition, putAttemptRecord, putComposition } from '#store/objects/stored-records.ts'
import { operationJobId } from '#store/queues/catalog.ts'
import type { TamperedRun } from './tampered-run.fixture.ts'

/** One way to damage a run, and what the proof reports. */
export type RunDamage = {
  what: string
  invariant: Invariant
  says: RegExp
  /** How many violations are reported; 1 when missing. */
  lines?: number
  damage(one: TamperedRun): Promise<unknown>
}

/** Some of the ledger's invariants (1 to 6); store/ledger/verify.integration.test.ts has the others. */
const ledgerDamages: RunDamage[] = [
  {
    what: 'an event is missing',
    invariant: 1,
    says: /events (\d+) to \1 are missing/,
    damage: async (one) => one.bench.redis.xdel(one.keys.events, `${await seqOf(one, 'tool.called')}-0`),
  },
  {
    what: 'a counter is off',
    invariant: 2,
    says: /4 operations are counted as succeeded, 3 are/,
    damage: ({ bench, keys }) => bench.redis.hincrby(keys.run, 'n:succeeded', 1),
  },
  {
    what: 'an operation is not among the ended ones',
    invariant: 2,
    says: /is succeeded and not in the set ended/,
    damage: (one) => one.bench.redis.zrem(one.keys.ended, shelfLint(one).operationId),
  },
  {
    what: 'an operation has no outcome',
    invariant: 3,
    says: /without an outcome/,
    damage: ({ bench, keys, operations: [, broken] }) =>
      bench.redis.hdel(keys.operation(broken?.operationId ?? ''), 'outcome'),
  },
  {
    what: 'a model’s answer is not there',
    invariant: 3,
    says: /operation\.ended of operation \S+: the request of event \d+ was not answered/,
    damage: async (one) => {
      const seq = await seqOf(one, 'model.responded')
      const [[, fields] = ['', []]] = await one.bench.redis.xrange(one.keys.events, `${seq}-0`, `${seq}-0`)
      const counts = fields.join().matchAll(/"(prompt|completion)_tokens":(\d+)/g)
      for (const [, part, tokens = '0'] of counts)
        await one.bench.redis.hincrby(one.keys.run, part === 'prompt' ? 'tokens_in' : 'tokens_out', -Number(tokens))
      await renameLast(one, 'model.responded', 'turn.finished', { attempt: 1, turn: 1, calls: 0 })
    },
  },
  {
    what: 'the run ended under another name',
    invariant: 3,
    says: /the run is completed, its events have run\.failed instead of run\.completed/,
    damage: (one) => renameLast(one, 'run.completed', 'run.failed', { error_code: 'TOOL_004', reason: 'r' }),
  },
  {
    what: 'a dependency was not waited for',
    invariant: 5,
    says: /started although \S+, which it waits for, is running/,
    damage: ({ bench, keys, operations: [, broken, , , price] }) =>
      bench.redis.rpush(keys.after(broken?.operationId ?? ''), price?.operationId ?? ''),
  },
  {
    what: 'a result is there twice',
    invariant: 6,
    says: /is succeeded and has 2 results/,
    damage: (one) => {
      const ids = ['run_id', one.run.runId, 'operation_id', shelfLint(one).operationId]
      return one.bench.redis.xadd(resultKeys(one.bench.namespace).results, '*', ...ids, 'result', '{}')
    },
  },
]

const objectDamages: RunDamage[] = [
  {
    what: 'a blob of the snapshot is missing',
    invariant: 7,
    says: /the blob of notes\.txt in the snapshot: object \S+ is missing/,
    damage: async ({ bench, run, remove }) => {
      const snapshot = await bench.deps.baseLayer(run.projectId, run.snapshotId ?? '')
      await remove(objectKeys.blob(run.projectId, snapshot.find('notes.txt')?.hash ?? ''))
    },
  },
  {
    what: 'the snapshot is another',
    invariant: 7,
    says: /snapshot \S+: object \S+ does not have the content it is named by/,
    damage: ({ run, overwrite }) => overwrite(objectKeys.snapshot(run.projectId, run.snapshotId ?? ''), '{}'),
  },
  {
    what: 'the base of the change sets has another content',
    invariant: 7,
    says: /the base of its change set: object \S+ does not have the content it is named by/,
    damage: async (one) => {
      const { baseHash } = await composedFile(one)
      await one.overwrite(objectKeys.blob(one.run.projectId, baseHash ?? ''), 'x = 1\n')
    },
  },
  {
    what: 'a bundle is missing',
    invariant: 7,
    says: /bundle docstring: object \S+ is missing/,
    damage: ({ run, operations, remove }) =>
      remove(objectKeys.bundle(run.projectId, operations.at(-1)?.bundleHash ?? '')),
  },
  {
    what: 'an attempt record is damaged',
    invariant: 7,
    says: /its attempt record: object \S+ does not have the content it is named by/,
    damage: (one) => {
      const hash = shelfLint(one).outcome?.recordHash ?? ''
      return one.overwrite(objectKeys.attempt(one.run.projectId, hash), '{}')
    },
  },
  {
    what: 'an outcome names no record',
    invariant: 7,
    says: /it is succeeded and names no attempt record/,
    damage: (one) => setOutcome(one, { recordHash: undefined }),
  },
  {
    what: 'an outcome names the record of another attempt',
    invariant: 7,
    says: /its attempt record has another attempt than the ledger/,
    damage: (one) => changeRecord(one, (record) => ({ ...record, attempt: 2 })),
  },
  {
    what: 'an outcome is not what the record says',
    invariant: 7,
    says: /its attempt record has another outcome than the ledger/,
    damage: (one) => changeRecord(one, (record) => ({ ...record, outcome: { ...record.outcome, turns: 99 } })),
  },
  {
    what: 'a change set does not match its id',
    invariant: 7,
    says: /its id is not that of its changes|its change sets come to/,
    lines: 2,
    damage: (one) => changeRecord(one, (record) => withEdit(record, 0)),
  },
  {
    what: 'an edit is outside its base',
    invariant: 7,
    says: /its edits of src\/shop\.py are not sorted and inside \d+ bytes|its id is not|its change sets come to/,
    lines: 3,
    damage: (one) => changeRecord(one, (record) => withEdit(record, 1_000_000)),
  },
  {
    what: 'the composition is missing',
    invariant: 7,
    says: /composition: object \S+ is missing/,
    damage: ({ run, remove }) => remove(objectKeys.composition(run.projectId, run.runId, run.compositionKey ?? '')),
  },
  {
    what: 'the composition names another result',
    invariant: 7,
    says: /composed file src\/shop\.py: its change sets come to \S+, the composition says 0{64}/,
    damage: (one) => changeFiles(one, (file) => ({ ...file, resultHash: '0'.repeat(64) })),
  },
  {
    what: 'a change set is neither in the composition nor left out of it',
    invariant: 7,
    says: /\S+ is not in src\/shop\.py, and no conflict says why|which it is built on$|its change sets come to/,
    lines: 3,
    damage: (one) => changeFiles(one, (file) => ({ ...file, changeSetIds: file.changeSetIds.slice(1) })),
  },
  {
    what: 'a composed file is missing',
    invariant: 7,
    says: /composed file src\/shop\.py: object \S+ is missing/,
    damage: async (one) => {
      const { resultHash } = await composedFile(one)
      await one.remove(objectKeys.blob(one.run.projectId, resultHash ?? ''))
    },
  },
]

const leftBehind: RunDamage[] = [
  {
    what: 'a lease is left',
    invariant: 8,
    says: /the run has ended and left 1 in the set leases, o\w+ first/,
    damage: (one) => one.bench.redis.zadd(one.keys.leases, Date.now(), shelfLint(one).operationId),
  },
  {
    what: 'a result is left in the outbox',
    invariant: 8,
    says: /the run has ended and left 1 in the outbox/,
    damage: async (one) => {
      const seq = one.run.seq + 1
      await one.bench.redis.xadd(one.keys.outbox, `${seq}-0`, 'o', shelfLint(one).operationId)
      await one.bench.redis.hset(resultKeys(one.bench.namespace).published, one.run.runId, seq)
    },
  },
  {
    what: 'dependents are still to be notified',
    invariant: 8,
    says: /the run has ended and left 1 ended operations whose dependents have not been notified/,
    damage: (one) => one.bench.redis.rpush(one.keys.cascade, `${shelfLint(one).operationId}:0`),
  },
  {
    what: 'the run is among the active ones',
    invariant: 8,
    says: /the run has ended and left the run in the index of active runs/,
    damage: ({ bench, run }) => bench.redis.zadd(indexKeys(bench.namespace).active, 1, `${run.projectId}/${run.runId}`),
  },
  {
    what: 'the job of a dispatch is in its queue',
    invariant: 8,
    says: /left the job \S+ in the queue operations/,
    damage: (one) => {
      const { operationId, dispatch } = shelfLint(one)
      const { runId } = one.run
      const payload = { run_id: runId, operation_id: operationId, dispatch, traceparent: null } as const
      return one.queues.add('operations', operationJobId({ runId, operationId, dispatch }), payload)
    },
  },
  {
    what: 'the job of a stage is in its queue',
    invariant: 8,
    says: /left the job \S+ in the queue compositions/,
    damage: ({ queues, run: { runId } }) => queues.add('compositions', runId, { run_id: runId, traceparent: null }),
  },
]

/** One damage for everything that a proof checks. */
export const runDamages: readonly RunDamage[] = [...ledgerDamages, ...objectDamages, ...leftBehind]

function shelfLint({ operations: [operation] }: TamperedRun): Operation {
  if (operation === undefined) throw new Error('the run has no operations')
  return operation
}

async function seqOf({ bench, run }: TamperedRun, name: string): Promise<number> {
  const events = await bench.ledger.readEvents(run.runId, { after: 0, limit: 1_000 })
  return events.findLast((event) => event.event === name)?.seq ?? 0
}

/** Rewrites the stream from the last event of that name on, with that event under another name. */
async function renameLast(one: TamperedRun, from: string, to: string, data: object): Promise<void> {
  const { redis } = one.bench
  const renamed = (body: string) => body.replace(from, to).replace(/"j":\{.*$/, `"j":${JSON.stringify(data)}}`)
  const seq = await seqOf(one, from)
  const entries = await redis.xrange(one.keys.events, `${seq}-0`, '+')
  await redis.pipeline().hincrby(one.keys.tally, from, -1).hincrby(one.keys.tally, to, 1).exec()
  await redis.xdel(one.keys.events, ...entries.map(([id]) => id))
  await redis.xsetid(one.keys.events, `${seq - 1}-0`)
  for (const [at, [id, fields]] of entries.entries())
    await redis.xadd(one.keys.events, id, ...(at === 0 ? fields.map(renamed) : fields))
}

async function setOutcome(one: TamperedRun, change: { recordHash: string | undefined }): Promise<void> {
  const { operationId, outcome } = shelfLint(one)
  await one.bench.redis.hset(one.keys.operation(operationId), 'outcome', JSON.stringify({ ...outcome, ...change }))
}

/** Lets the first operation's outcome name another record, stored under its own hash. */
async function changeRecord(one: TamperedRun, change: (record: AttemptRecord) => AttemptRecord): Promise<void> {
  const { objects } = one.bench.deps
  const { projectId } = one.run
  const record = change(await getAttemptRecord(objects, projectId, shelfLint(one).outcome?.recordHash ?? ''))
  await setOutcome(one, { recordHash: await putAttemptRecord(objects, projectId, record) })
}

/** Its change sets with one edit, of the byte at `start`. */
function withEdit(record: AttemptRecord, start: number): AttemptRecord {
  if (record.changeSet === null) throw new Error('the record has no change set')
  const files = record.changeSet.files.map((file) =>
    file.kind === 'edit' ? { ...file, edits: [{ start, end: start + 1, text: '' }] } : file,
  )
  return { ...record, changeSet: { ...record.changeSet, files } }
}

async function compositionOf({ bench, run }: TamperedRun): Promise<Composition> {
  const { projectId, runId, compositionKey } = run
  return getComposition(bench.deps.objects, { projectId, runId, hash: compositionKey ?? '' })
}

async function composedFile(one: TamperedRun): Promise<ComposedFile> {
  const [file] = (await compositionOf(one)).files
  if (file === undefined) throw new Error('the run changed nothing')
  return file
}

async function changeFiles(one: TamperedRun, change: (file: ComposedFile) => ComposedFile): Promise<void> {
  const whole = await compositionOf(one)
  const changed = { ...whole, files: whole.files.map(change) }
  const hash = await putComposition(one.bench.deps.objects, one.run, changed)
  await one.bench.redis.hset(one.keys.run, 'composition', hash)
}
