import { figure } from '#domain/figure.ts'
import { plural } from '#domain/timeline/words.ts'
import type { Agenda } from '#client/wire.ts'
import type { PlanView } from '#schemas/plan-schema.ts'
import { linkTo } from '../../core/route.ts'
import type { Estimate } from '../../core/new-run-form.ts'
import { TableBox } from '../parts/shown.tsx'

/** Shows what a dry run has found. */
export function EstimateBox({ run, plan, agenda }: Estimate) {
  return (
    <section class="box" aria-label="Estimate">
      <h2>Dry run: nothing of it was done</h2>
      {run.status !== 'completed' && (
        <p class="problem">
          {run.error_code} {run.reason ?? run.status}
        </p>
      )}
      {plan && <PlanTable plan={plan} />}
      {agenda && <ItemList agenda={agenda} />}
      <p>
        <a href={linkTo({ page: 'run', runId: run.run_id, tab: 'overview' })}>The dry run</a>
      </p>
    </section>
  )
}

const columns = [
  ['Agent'],
  ['Nodes looked at', 'num'],
  ['With a model', 'num'],
  ['Without', 'num'],
  ['Estimated tokens', 'num'],
] as const

function PlanTable({ plan }: { plan: PlanView }) {
  return (
    <>
      <TableBox label="Estimate of each agent" columns={columns}>
        {Object.entries(plan.agents).map(([name, agent]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td class="num">{figure(agent.looked_at)}</td>
            <td class="num">{figure(agent.planned)}</td>
            <td class="num">{figure(agent.mechanical)}</td>
            <td class="num">{figure(agent.estimated_tokens)}</td>
          </tr>
        ))}
      </TableBox>
      <LeftOutList plan={plan} />
    </>
  )
}

/** Says what no operation is planned on, and why. */
function LeftOutList({ plan }: { plan: PlanView }) {
  const agents = Object.entries(plan.agents)
  return (
    <details>
      <summary>What is left out, and why</summary>
      <ul>
        {plan.beyond_limit > 0 && <li>{plural(plan.beyond_limit, 'operation')} beyond the limit are left out</li>}
        {plan.skipped_files.length > 0 && <li>{plural(plan.skipped_files.length, 'file')} skipped as a whole</li>}
        {agents.flatMap(([name, { skipped }]) =>
          skipped.map(({ reason, count }) => (
            <li key={`${name} ${reason}`}>
              {name}: {plural(count, 'node')} left out, {reason}
            </li>
          )),
        )}
        {plan.notices.map((notice) => (
          <li key={notice}>{notice}</li>
        ))}
      </ul>
    </details>
  )
}

function ItemList({ agenda }: { agenda: Agenda }) {
  return (
    <ol>
      {agenda.items.map((item) => (
        <li key={item.item_id}>
          {item.capability}: {item.objective}
          {item.counts?.estimate && (
            <span class="quiet">
              {' '}
              ({plural(item.counts.estimate.operations, 'operation')}, {plural(item.counts.estimate.tokens, 'token')})
            </span>
          )}
        </li>
      ))}
    </ol>
  )
}
