import { z } from 'zod'
import type { RunId } from '#domain/ids.ts'
import { mostParts, type PartId, type PartNote, type PatchNote } from '#domain/patch-note.ts'
import type { PatchKind } from '#domain/run.ts'
import { pairsOf, runCommand } from './script.ts'
import type { LedgerStore } from './store.ts'

const writePatch = runCommand('note-patch', z.enum(['noted', 'older']), 'keys')

/** Keeps in the run the patch that was composed from its decisions, unless it has a later one. RUN_001: unknown run. */
export async function notePatch(store: LedgerStore, runId: RunId, { of, note }: { of: PatchKind; note: PatchNote }) {
  return writePatch(store, runId, [of, note.decided, JSON.stringify(note)])
}

const writePart = runCommand('note-part', z.union([z.literal('older'), z.array(z.string())]), 'keys')
const mostReasonLength = 500

/** A note that the run keeps no longer. `compositionKey`: '' of a fault. */
export type ForgottenPart = { part: PartId; compositionKey: string }

/** Returns the notes that gave way to this one, to whose objects nothing refers any more. RUN_001: unknown run. */
export async function notePart(store: LedgerStore, runId: RunId, note: PartNote): Promise<ForgottenPart[] | 'older'> {
  // Redis reads no JSON with half a character.
  const kept = 'reason' in note ? { ...note, reason: note.reason.slice(0, mostReasonLength).toWellFormed() } : note
  const gone = await writePart(store, runId, [note.part, note.decided, JSON.stringify(kept), mostParts])
  return gone === 'older' ? gone : pairsOf(gone).map(([part, compositionKey]) => ({ part, compositionKey }))
}
