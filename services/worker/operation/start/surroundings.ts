import type { Ledger } from '#ledger/ledger.ts'
import type { ObjectStore } from '#objects/object-store.ts'
import { openRelatedNodes } from './related-nodes.ts'
import { openRelatedPaths, type RelatedPaths } from './related-paths.ts'
import { openRunFacts, type RunFacts } from './run-facts.ts'
import { openStartContext, type ReadStartContext } from './start-context.ts'

export type SurroundingsDeps = {
  ledger: Pick<Ledger, 'getRun' | 'endedOperations'>
  objects: Pick<ObjectStore, 'get' | 'getRange'>
}

/** What operations are told and given of what is around their nodes; what several need is read once. */
export function openSurroundings(deps: SurroundingsDeps): {
  relatedPaths: RelatedPaths
  startContext: ReadStartContext
  runFacts(runId: string): Promise<RunFacts>
} {
  const runFacts = openRunFacts(deps.ledger)
  const related = openRelatedNodes({ runFacts, objects: deps.objects })
  const { ledger } = deps
  const startContext = openStartContext({ ledger, runFacts, related })
  return { relatedPaths: openRelatedPaths(related), startContext, runFacts }
}
