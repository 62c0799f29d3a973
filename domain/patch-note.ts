import { z } from 'zod'

/** Names a part of what was accepted by the hash of the list of its change sets (store/objects/patch-part.ts). */
export const PartId = z.string().regex(/^[0-9a-f]{64}$/)
export type PartId = z.infer<typeof PartId>

/** Names the composition of a patch by its hash, as of the decision number `decided` (decisions.ts). */
const Composed = z.object({ decided: z.int().min(0), compositionKey: z.string() })
/** Says why the patch cannot be composed. `at` is in ms since the epoch; a fault is not believed for long. */
const Faulty = z.object({ decided: z.int().min(0), errorCode: z.string(), reason: z.string(), at: z.number() })

export const PatchNote = z.union([Composed, Faulty])
export type PatchNote = z.infer<typeof PatchNote>

export const PartNote = z.union([Composed.extend({ part: PartId }), Faulty.extend({ part: PartId })])
export type PartNote = z.infer<typeof PartNote>

/** A run remembers what became of so many parts, and forgets those that were noted longest ago. */
export const mostParts = 64

/** The compositions that were made after that of the run, as their notes name them. */
export function laterCompositions({
  patches,
  parts,
}: {
  patches: Partial<Record<string, PatchNote>>
  parts: readonly PartNote[]
}): string[] {
  const notes = [...Object.values(patches), ...parts]
  return notes.flatMap((note) => (note !== undefined && 'compositionKey' in note ? note.compositionKey : []))
}
