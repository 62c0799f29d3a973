import { type AcceptedDeps, readAccepted } from '#composition/accepted-sets.ts'
import { chainOf } from '#composition/run-chain.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#ledger/ledger.ts'
import type { RepositorySettings } from '../deliveries/repository-settings.ts'

export type ChooseDeps = {
  ledger: AcceptedDeps['ledger'] & Pick<Ledger, 'getRun' | 'readDecisions'>
  records: { readChangeSets: AcceptedDeps['readSets'] }
}

export type ChosenParts = {
  parts: { agent: string | null; changeSetIds: string[]; left: string[] }[]
  /** Why there is none that people may expect. */
  why: string | undefined
}

/** What of the accepted changes of a run goes into which pull request. */
export async function choosePartsOf(run: Run, settings: RepositorySettings, deps: ChooseDeps): Promise<ChosenParts> {
  const chain = await chainOf(run, deps.ledger)
  const decisions = await deps.ledger.readDecisions((chain.at(-1) ?? run).runId)
  const { sets } = await readAccepted(chain, decisions, { ...deps, readSets: deps.records.readChangeSets })
  if (sets.length === 0) return { parts: [], why: undefined }
  void settings
  return {
    parts: [{ agent: null, changeSetIds: sets.map(({ changeSetId }) => changeSetId), left: [] }],
    why: undefined,
  }
}
