import { z } from 'zod'
import type { NewEvent } from '#domain/event.ts'
import type { RunId } from '#domain/ids.ts'
import type { Question } from '#domain/question.ts'
import { parseJson } from '#domain/json.ts'
import { runKeys } from './keys.ts'
import { runCommand } from './script.ts'
import type { LedgerStore } from './store.ts'
import { ownerOf, storedEvents } from './stored-events.ts'

const keep = runCommand('keep-watch', z.enum(['kept', 'lost']))
const Watch = z.tuple([z.coerce.number(), z.string().nullable()])

/** Returns what was kept of the run last; version 0 and no state at first. */
export async function readWatch({ redis, namespace }: LedgerStore, runId: RunId) {
  const { watch } = runKeys(namespace, runId)
  const [version, state] = Watch.parse(await redis.hmget(watch, 'version', 'state'))
  return { version, state: state === null ? undefined : parseJson(state) }
}

export type KeptWatch = {
  /** Names the process: the same state, sent twice by it, is kept once. */
  token: string
  /** Is one more than that of the state before. */
  version: number
  state: unknown
  events: readonly NewEvent[]
  questions?: readonly OwnQuestion[]
}

/** A question about the run, which follows from one of the events, by its place. */
export type OwnQuestion = Pick<Question, 'bundle' | 'text' | 'acts'> & { choices: readonly string[]; after: number }

/**
 * Keeps the state, and adds the events and questions but to a run that has ended or is stopped, in one step. `lost`: another process has kept
 * one. RUN_001.
 */
export async function keepWatch(store: LedgerStore, runId: RunId, kept: KeptWatch) {
  const { token, version, state, events, questions = [] } = kept
  const ofRun = { operationId: null, nodeId: null, path: null, qualifiedName: null, expiresAt: null }
  const asked = questions.flatMap(({ after, ...question }) => {
    // To Redis half a surrogate pair is invalid JSON.
    const text = question.text.toWellFormed()
    return [after + 1, store.redactor.json(JSON.stringify({ ...ofRun, ...question, text }))]
  })
  const { kind, id } = store.origin
  const told = await storedEvents(store, ownerOf(store, runId), events)
  const args = [token, version, JSON.stringify(state), kind, id, questions.length, ...asked, ...told]
  return keep(store, runId, args, [runKeys(store.namespace, runId).watch])
}
