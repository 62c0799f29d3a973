import type { RunId } from '#domain/ids.ts'
import type { Operation } from '#domain/operation.ts'
import type { Ledger } from '#ledger/ledger.ts'

const pageLength = 500

/** Every operation of the run, in plan order, a page at a time. */
export async function* operationPages(
  ledger: Pick<Ledger, 'listOperations'>,
  runId: RunId,
): AsyncGenerator<readonly Operation[]> {
  let cursor: string | null | undefined
  while (cursor !== null) {
    const page = await ledger.listOperations(runId, {
      limit: pageLength,
      ...(cursor === undefined ? {} : { cursor }),
    })
    yield page.operations
    cursor = page.next
  }
}
