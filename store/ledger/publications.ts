import { z } from 'zod'
import type { NewEvent } from '#domain/event.ts'
import { parseJson } from '#domain/json.ts'
import type { RunId } from '#domain/ids.ts'
import { Publication } from '#domain/publication.ts'
import { runKeys } from './keys.ts'
import { runCommand } from './script.ts'
import type { LedgerStore } from './store.ts'
import { ownerOf, storedEvents } from './stored-events.ts'

const note = runCommand('note-publication', z.enum(['noted', 'older']), 'events')

/** note-publication.lua reads no longer number. After it comes 1: nobody gets there but by writing it there. */
const mostVersion = 999_999_999_999_999

/** Undefined when another version than `publication.version` is kept by now. RUN_001: unknown run. */
export async function notePublication(
  store: LedgerStore,
  runId: RunId,
  { publication, events = [] }: { publication: Publication; events?: readonly NewEvent[] },
): Promise<Publication | undefined> {
  const next = { ...publication, version: (publication.version % mostVersion) + 1 }
  const json = JSON.stringify(next)
  const signature = store.signer?.sign('publication', runId, json) ?? '-'
  const encoded = await storedEvents(store, ownerOf(store, runId), events)
  const args = [publication.version, `${next.version} ${signature} ${json}`, ...encoded]
  const { publication: key } = runKeys(store.namespace, runId)
  return (await note(store, runId, args, [key])) === 'noted' ? next : undefined
}

/** Reads the publication. In the place of one without the right signature there is one by which nothing is published until somebody asks. */
export function readPublication({ signer }: Pick<LedgerStore, 'signer'>, runId: RunId, text: string | null) {
  if (text === null) return { publication: null, isSigned: true }
  const [, signature = '', json = ''] = /^\d+ (\S+) (.*)$/s.exec(text) ?? []
  const isSigned = signer === undefined || signer.isSigned(signature, 'publication', runId, json)
  const publication = isSigned ? Publication.safeParse(parseJson(json)).data : undefined
  if (publication !== undefined) return { publication, isSigned }
  const version = Number(/^([1-9]\d{0,14}) /.exec(text)?.[1] ?? 0)
  return { publication: Publication.parse({ version, isDismissed: true }), isSigned: false }
}
