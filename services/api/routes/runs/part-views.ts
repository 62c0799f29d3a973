import type { GateReport } from '#domain/gate.ts'
import type { Run } from '#domain/run.ts'
import type { RunEnvironment } from '#domain/setup.ts'
import type { GateView } from '#schemas/gate-schema.ts'
import { FaultView, type PublicationView, PullView } from '#schemas/publication-schema.ts'
import type { EnvironmentView } from '#schemas/setup-schema.ts'
import { snakeKeys } from '#domain/wire-keys.ts'
import { isoTime, viewOf } from '../../http/schema-parts.ts'

export function repositoryView({ request, commit }: Pick<Run, 'request' | 'commit'>) {
  if (request.repository === undefined) return null
  const { host, repository, ref, branch, pullRequest } = request.repository
  const { owner, name } = repository
  const at = { commit: commit ?? request.repository.commit ?? null, branch, pull_request: pullRequest }
  return snakeKeys({ host, owner, name, ref, ...at })
}

export function publicationView(publication: Run['publication']): PublicationView | null {
  if (publication === null) return null
  const { check, pulls, fault } = publication
  return {
    ...(check !== null && { check_run: { id: check.id, status: check.status } }),
    pulls: pulls.map((pull) => viewOf(PullView, pull, {})),
    ...(fault !== null && { fault: viewOf(FaultView, fault, { at: isoTime(fault.at) }) }),
  }
}

export function environmentView(environment: RunEnvironment | null): EnvironmentView | null {
  if (environment === null) return null
  if (environment.kind !== 'ready') {
    const { kind: status, ...same } = environment
    return snakeKeys({ status, ...same })
  }
  const { kind: status, isCached: cached, key: _, ...same } = environment
  return snakeKeys({ status, cached, ...same })
}

export function gateView(gate: GateReport | undefined): GateView | null {
  if (gate === undefined) return null
  return { ...snakeKeys(gate), outputs: gate.outputs.map(snakeKeys) }
}
