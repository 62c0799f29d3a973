import { plural } from '#domain/timeline/words.ts'
import type { Run } from '#client/wire.ts'
import { type Fact, Facts } from '../parts/facts.tsx'
import { At } from '../parts/times.tsx'

/** Shows what was asked for, and what of it was skipped. */
export function RequestBox({ run }: { run: Run }) {
  const { request, environment } = run
  const facts: Fact[] = [
    ['Objective', request.objective],
    ['Agents', request.agents.join(', ')],
    ['Paths', request.paths?.join(' ')],
    ['Left out', request.exclude?.join(' ')],
    ['Languages', request.languages?.join(', ')],
    ['Kinds', request.node_kinds?.join(', ')],
    ['Limit', request.limits.operations && plural(request.limits.operations, 'operation')],
    ['Gate', request.verify?.command],
    ['Setup', environment && `${environment.command}: ${environment.reason ?? environment.status}`],
    ['On a failure', request.error_policy.replaceAll('_', ' ')],
    ['Accepts', request.accept === 'auto' ? 'what has all the evidence that its agent asks for' : 'nothing by itself'],
    ['Priority', String(request.priority)],
    ['Accepted', <At ts={run.accepted_at} />],
    ['Ended', run.ended_at && <At ts={run.ended_at} />],
    ...Object.entries(request.labels).map(([name, text]): Fact => [`Label ${name}`, text]),
  ]
  return (
    <details class="box">
      <summary>What was asked for</summary>
      <Facts facts={facts} />
      {run.skipped > 0 && <h3>{plural(run.skipped, 'path')} skipped</h3>}
      <ul class="wrap">
        {run.skipped_files.map(({ path, reason }) => (
          <li key={path}>
            {path} <span class="quiet">{reason}</span>
          </li>
        ))}
      </ul>
    </details>
  )
}
