import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import type { ProjectId } from '#domain/ids.ts'
import { parseJson } from '#domain/json.ts'
import type { Retention } from '#ledger/retention.ts'
import { objectKeys } from '#objects/object-keys.ts'
import type { ObjectStore } from '#objects/object-store.ts'

const LedgerMark = z.strictObject({ v: z.literal(1), ledger_id: z.string() })

type Deps = { retention: Pick<Retention, 'ledgerId'>; objects: Pick<ObjectStore, 'get' | 'put'> }

/**
 * CONFIG_003 unless the project's objects belong to this ledger's runs, which the first ledger that collects writes down
 * beside them. A Redis that came back empty, or a second one that shares the bucket, knows none of the runs that refer to
 * them, and would delete them all.
 */
export async function expectOwnLedger(projectId: ProjectId, { retention, objects }: Deps): Promise<void> {
  const key = objectKeys.ledgerMark(projectId)
  const own = await retention.ledgerId()
  const found = await readMark(key, objects)
  if (found === own) return
  if (found !== undefined) {
    throw new AppError(
      'CONFIG_003',
      `the objects of project "${projectId}" belong to another ledger: this Redis is not the one they were collected with. ` +
        `Give each Redis a bucket of its own; if the other one is gone for good, delete the object ${key}.`,
    )
  }
  await objects.put(key, JSON.stringify({ v: 1, ledger_id: own }), { contentType: 'application/json' })
}

async function readMark(key: string, objects: Deps['objects']): Promise<string | undefined> {
  try {
    return LedgerMark.parse(parseJson(Buffer.from(await objects.get(key)).toString())).ledger_id
  } catch (error) {
    if (error instanceof AppError && error.code === 'STORE_003') return undefined
    throw error
  }
}
