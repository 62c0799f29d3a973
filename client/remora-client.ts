import {
  type Connection,
  type ConnectionOptions,
  NoAnswer,
  openConnection,
  randomKey,
  RemoraProblem,
} from './connection.ts'
import { readStream, type StreamFrame, type StreamOptions } from './read-stream.ts'
import { type Archive, submissionForm } from './multipart.ts'
import { pause } from './timers.ts'
import type {
  Agenda,
  ApprovalAnswer,
  Ask,
  Decisions,
  DecisionsRequest,
  Event,
  EventName,
  Question,
  RepositoryRunRequest,
  Run,
  RunRequest,
} from './wire.ts'

export type EventOf<Name extends EventName> = Event & { event: Name }
/** `timeoutMs`: for so long at most. */
export type Waiting = { timeoutMs?: number; signal?: AbortSignal }
/**
 * `result`: it is this client's, also when it asks again. `going_on`: the time was up, or somebody has retried the run; it goes on.
 * `consumed`: another client has had the result, with the token `by`.
 */
export type Awaited = { kind: 'result'; run: Run } | { kind: 'going_on' } | { kind: 'consumed'; by: string; at: string }
export type Subscription = {
  close(): void
  /** Resolves once the run has ended or `close` was called; rejects with what the handler or the service threw. */
  closed: Promise<void>
}

/**
 * Starts, follows and steers runs of a service. It needs `fetch` and nothing else of its platform. Errors are RemoraProblem and NoAnswer; what
 * the service answers is not checked against its schemas.
 */
export type RemoraClient = {
  /** Begins a run of an archive, or of a repository of a code host that the service reads. Returns its id. */
  start(request: RunRequest, archive: Archive): Promise<string>
  start(request: RepositoryRunRequest): Promise<string>
  /** Begins a run and waits for its end. It leaves the result for `await`. */
  run(request: RunRequest, archive: Archive): Promise<Run>
  run(request: RepositoryRunRequest): Promise<Run>
  /** Waits for the end of a run and takes its result, which one client alone gets. `status` shows the run to all. */
  await(runId: string, waiting?: Waiting): Promise<Awaited>
  status(runId: string): Promise<Run>
  /** Yields the frames of a run; with `all` it yields the events of all runs, from now on, and has no end. */
  stream(runId: string, options?: StreamOptions): AsyncGenerator<StreamFrame, void, undefined>
  /** Calls `handler` with every event of these names, one after the other, from the run's first to its end; of `all`, from now on. */
  subscribe<Name extends EventName>(
    runId: string,
    names: readonly Name[],
    handler: (event: EventOf<Name>) => unknown,
    options?: StreamOptions,
  ): Subscription
  /** Returns the first event of this name; undefined when the run ends without it or the time is up. */
  waitFor<Name extends EventName>(
    runId: string,
    name: Name,
    options?: Waiting & StreamOptions,
  ): Promise<EventOf<Name> | undefined>
  /** Asks the service to stop the run, which ends a moment later. */
  cancel(runId: string, reason?: string): Promise<void>
  /** Answers what an agent asks, or approves a call: `requestId` is that of the event `human_input.requested`. One answer counts. */
  answer(runId: string, requestId: string, answer: string | ApprovalAnswer): Promise<Question>
  decide(runId: string, decisions: DecisionsRequest): Promise<Decisions>
  /** Returns the plan of a run with an objective: its items, what became of them, and the decisions with their reasons. */
  agenda(runId: string): Promise<Agenda>
  /** Adds to the objective of a run while it goes on. */
  say(runId: string, text: string): Promise<void>
  /** Approves the plan of this hash, that of the agenda; a RemoraProblem with RUN_011 when the plan is another one by now. */
  approve(runId: string, planHash: string): Promise<void>
  /** Asks a model about the run, which may have ended, and waits for the answer, or why there is none. Undefined when the time is up. */
  ask(runId: string, text: string, waiting?: Waiting): Promise<Ask | undefined>
}

export { NoAnswer, RemoraProblem }

export function openRemora(options: ConnectionOptions): RemoraClient {
  const connection = openConnection(options)
  return { ...runCalls(connection), ...eventCalls(connection), ...steeringCalls(connection) }
}

function runCalls(connection: Connection): Pick<RemoraClient, 'start' | 'run' | 'await' | 'status'> {
  const start = async (request: RunRequest | RepositoryRunRequest, archive?: Archive) => {
    const form = archive === undefined ? { method: 'POST' as const, json: request } : submissionForm(request, archive)
    return (await connection.json<{ run_id: string }>('/v1/runs', form)).run_id
  }
  const status = (runId: string, signal?: AbortSignal) => connection.json<Run>(runPath(runId), { signal })
  const untilEnded = async (known: Run, signal?: AbortSignal): Promise<Run> => {
    for (let run = known; ; run = await status(run.run_id, signal)) {
      if (run.ended_at !== null) return run
      // The frame `end` comes with any choice of categories; `failed` has the fewest events.
      const rest = { after: `${run.seq}`, categories: ['failed'], signal } as const
      for await (const frame of readStream(connection, eventsPath(run.run_id), rest)) if (frame.type === 'end') break
    }
  }
  const headers = { 'idempotency-key': randomKey() }
  const take = async (runId: string, signal: AbortSignal | undefined): Promise<Awaited> => {
    try {
      const run = await connection.json<Run>(`${runPath(runId)}/result`, { method: 'POST', headers, signal })
      return { kind: 'result', run }
    } catch (error) {
      if (!(error instanceof RemoraProblem)) throw error
      const { taken_by: by, taken_at: at } = error.document
      if (error.code === 'RUN_010') return { kind: 'consumed', by: String(by), at: String(at) }
      if (error.code === 'RUN_006') return { kind: 'going_on' }
      throw error
    }
  }
  return {
    start,
    run: async (request: RunRequest | RepositoryRunRequest, archive?: Archive) =>
      untilEnded(await status(await start(request, archive))),
    async await(runId, waiting = {}) {
      const known = await status(runId, waiting.signal)
      const run = await inTime(waiting, (signal) => untilEnded(known, signal))
      return run === undefined ? { kind: 'going_on' } : take(runId, waiting.signal)
    },
    status: (runId) => status(runId),
  }
}

function eventCalls(connection: Connection): Pick<RemoraClient, 'stream' | 'subscribe' | 'waitFor'> {
  const stream = (runId: string, options: StreamOptions = {}) => readStream(connection, eventsPath(runId), options)
  return {
    stream,
    subscribe(runId, names, handler, { signal, ...from } = {}) {
      const stop = new AbortController()
      const either = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal])
      const follow = async () => {
        for await (const event of namedEvents(stream(runId, { ...from, signal: either }), names)) await handler(event)
      }
      const closed = follow().catch((error: unknown) => {
        if (!stop.signal.aborted) throw error
      })
      return { close: () => stop.abort(), closed }
    },
    waitFor: (runId, name, { timeoutMs, signal: given, ...from } = {}) =>
      inTime({ timeoutMs, signal: given }, async (signal) => {
        for await (const event of namedEvents(stream(runId, { ...from, signal }), [name])) return event
        return undefined
      }),
  }
}

type Steering = Pick<RemoraClient, 'cancel' | 'answer' | 'decide' | 'agenda' | 'say' | 'approve' | 'ask'>
const askAgainMs = 500

function steeringCalls({ json }: Connection): Steering {
  const post = <T>(path: string, document: object) => json<T>(path, { method: 'POST', json: document })
  return {
    async cancel(runId, reason) {
      await post(`${runPath(runId)}/cancel`, { reason })
    },
    answer: (runId, requestId, answer) =>
      post(`${runPath(runId)}/questions/${encodeURIComponent(requestId)}`, { answer }),
    decide: (runId, decisions) => post(`${runPath(runId)}/decisions`, decisions),
    agenda: (runId) => json<Agenda>(`${runPath(runId)}/agenda`),
    async say(runId, text) {
      await post(`${runPath(runId)}/messages`, { text })
    },
    async approve(runId, planHash) {
      await post(`${runPath(runId)}/approval`, { plan_hash: planHash })
    },
    ask: (runId, text, waiting = {}) =>
      inTime(waiting, async (signal) => {
        const path = `${runPath(runId)}/asks`
        const { ask_id: askId } = await json<{ ask_id: string }>(path, { method: 'POST', json: { text }, signal })
        for (;;) {
          const ask = await json<Ask>(`${path}/${askId}`, { signal })
          if (ask.ended_at !== null) return ask
          await pause(askAgainMs, signal)
        }
      }),
  }
}

const runPath = (runId: string) => `/v1/runs/${encodeURIComponent(runId)}`
const eventsPath = (runId: string) => (runId === 'all' ? '/v1/events' : `${runPath(runId)}/events`)

async function* namedEvents<Name extends EventName>(
  frames: AsyncIterable<StreamFrame>,
  names: readonly Name[],
): AsyncGenerator<EventOf<Name>, void, undefined> {
  for await (const frame of frames) {
    if (frame.type === 'resync') throw new NoAnswer('events of the run are lost, or past their retention', {})
    if (frame.type === 'event' && isNamed(frame.event, names)) yield frame.event
  }
}

function isNamed<Name extends EventName>(event: Event, names: readonly Name[]): event is EventOf<Name> {
  return names.some((name) => name === event.event)
}

/** Resolves to undefined when the time is up. */
async function inTime<T>(
  { timeoutMs, signal }: { timeoutMs?: number | undefined; signal?: AbortSignal | undefined },
  work: (signal: AbortSignal | undefined) => Promise<T>,
): Promise<T | undefined> {
  if (timeoutMs === undefined) return work(signal)
  const timeUp = AbortSignal.timeout(timeoutMs)
  try {
    return await work(signal === undefined ? timeUp : AbortSignal.any([signal, timeUp]))
  } catch (error) {
    if (timeUp.aborted && signal?.aborted !== true) return undefined
    throw error
  }
}
