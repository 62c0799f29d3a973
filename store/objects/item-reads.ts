import { z } from 'zod'
import { RepoPath } from '#domain/repo-path.ts'
import { objectKeys } from './object-keys.ts'
import { runRecords } from './object-store.ts'

/** Lists the files that an item of the agenda reads, once its operations are known: what changes in others leaves its plan as it is. */
const ItemReads = z.strictObject({ v: z.literal(1), paths: z.array(RepoPath) })

export const { put: putItemReads, get: getItemReads } = runRecords(objectKeys.itemReads, ItemReads)
