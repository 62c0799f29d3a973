import type { ApiClient } from '../api-client.ts'
import type { OperationView } from '../api-views.ts'

const pageSize = 500

/** Every operation of a run, in the order of its plan. */
export async function allOperations(
  client: Pick<ApiClient, 'listOperations'>,
  runId: string,
): Promise<OperationView[]> {
  const operations: OperationView[] = []
  for (let cursor: string | undefined; ;) {
    const page = await client.listOperations(runId, { ...(cursor === undefined ? {} : { cursor }), limit: pageSize })
    operations.push(...page.operations)
    if (page.next === null) return operations
    cursor = page.next
  }
}
