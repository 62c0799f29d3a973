import { z } from 'zod'
import type { NewEvent } from '#domain/event.ts'
import type { RunId } from '#domain/ids.ts'
import type { Publication } from '#domain/publication.ts'
import { runKeys } from './keys.ts'
import { expectKnownRun, runScript } from './script.ts'
import type { LedgerStore } from './store.ts'
import { encodeEvents } from './stored-events.ts'

const notePublicationScript = runScript('note-publication', 'events')
const NoteAnswer = z.enum(['noted', 'older'])

/**
 * Keeps what the publisher has done for a run, with the events that say so, also after the run's end. `publication.version` is the one
 * that the caller has read; undefined when somebody has written another one since. RUN_001: unknown run.
 */
export async function notePublication(
  store: LedgerStore,
  runId: RunId,
  { publication, events = [] }: { publication: Publication; events?: readonly NewEvent[] },
): Promise<Publication | undefined> {
  const next = { ...publication, version: publication.version + 1 }
  const answer = await notePublicationScript(store.redis, runKeys(store.namespace, runId).scripted, [
    publication.version,
    JSON.stringify(next),
    ...encodeEvents(events, store.redactor),
  ])
  return NoteAnswer.parse(expectKnownRun(runId, answer)) === 'noted' ? next : undefined
}
