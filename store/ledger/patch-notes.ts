import { z } from 'zod'
import type { RunId } from '#domain/ids.ts'
import { mostParts, type PartId, type PartNote, type PatchNote } from '#domain/patch-note.ts'
import type { PatchKind } from '#domain/run.ts'
import { runKeys } from './keys.ts'
import { expectKnownRun, pairsOf, runScript } from './script.ts'
import type { LedgerStore } from './store.ts'

const notePatchScript = runScript('note-patch', 'keys')
const NoteAnswer = z.enum(['noted', 'older'])

/** Keeps in the run the patch that was composed from its decisions, unless it has a later one. RUN_001: unknown run. */
export async function notePatch(store: LedgerStore, runId: RunId, { of, note }: { of: PatchKind; note: PatchNote }) {
  const args = [of, note.decided, JSON.stringify(note)]
  const answer = await notePatchScript(store.redis, runKeys(store.namespace, runId).scripted, args)
  return NoteAnswer.parse(expectKnownRun(runId, answer))
}

const notePartScript = runScript('note-part', 'keys')
const PartAnswer = z.union([z.literal('older'), z.array(z.string())])
const mostReasonLength = 500

/** A note that the run keeps no longer. `compositionKey`: '' of a fault. */
export type ForgottenPart = { part: PartId; compositionKey: string }

/** Returns the notes that gave way to this one, to whose objects nothing refers any more. RUN_001: unknown run. */
export async function notePart(store: LedgerStore, runId: RunId, note: PartNote): Promise<ForgottenPart[] | 'older'> {
  // Redis reads no JSON with half a character.
  const kept = 'reason' in note ? { ...note, reason: note.reason.slice(0, mostReasonLength).toWellFormed() } : note
  const args = [note.part, note.decided, JSON.stringify(kept), mostParts]
  const answer = await notePartScript(store.redis, runKeys(store.namespace, runId).scripted, args)
  const gone = PartAnswer.parse(expectKnownRun(runId, answer))
  return gone === 'older' ? gone : pairsOf(gone).map(([part, compositionKey]) => ({ part, compositionKey }))
}
