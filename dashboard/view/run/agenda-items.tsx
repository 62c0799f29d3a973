import { figure } from '#domain/figure.ts'
import { plural } from '#domain/timeline/words.ts'
import type { Agenda } from '#client/wire.ts'
import { linkTo } from '../../core/route.ts'
import { TableBox } from '../parts/table-box.tsx'
import type { StatusColour } from '../parts/status-badge.tsx'

type Item = Agenda['items'][number]

const colours: Readonly<Record<Item['status'], StatusColour>> = {
  waiting: 'idle',
  planning: 'busy',
  active: 'busy',
  ended: 'good',
  blocked: 'bad',
  cancelled: 'plain',
  stale: 'warn',
}

const columns = [
  ['Status'],
  ['Item'],
  ['Operations', 'num'],
  ['Changes', 'num wide'],
  ['Findings', 'num wide'],
  ['Tokens', 'num wide'],
] as const

/** Shows the items of a plan: who does what where, what they wait for, and what came of it. */
export function AgendaItems({ items, runId }: { items: readonly Item[]; runId: string }) {
  return (
    <TableBox label="Items of the plan" columns={columns}>
      {items.map((item) => (
        <ItemRow key={item.item_id} item={item} runId={runId} />
      ))}
    </TableBox>
  )
}

function ItemRow({ item, runId }: { item: Item; runId: string }) {
  const { counts } = item
  return (
    <tr>
      <td>
        <span class="badge" data-state={colours[item.status]}>
          {item.status}
        </span>
      </td>
      <th scope="row" class="wrap">
        <b>{item.item_id}</b> {item.capability}: {item.objective}
        <div class="quiet small">{detailsOf(item)}</div>
        {item.success_criteria.map((criterion) => (
          <div key={`${criterion.kind} ${criterion.text}`} class="small">
            {criterion.met === null ? '·' : criterion.met ? '✓' : '✗'}{' '}
            {criterion.text ?? criterion.kind.replaceAll('_', ' ')}
            {criterion.least === undefined ? '' : `, at least ${criterion.least}`}
            <span class="hidden">
              {criterion.met === null ? ' (not known)' : criterion.met ? ' (met)' : ' (not met)'}
            </span>
          </div>
        ))}
        {counts?.fault && (
          <div class="bad small">
            {counts.fault.error_code} {counts.fault.reason}
          </div>
        )}
        {item.decided_in !== null && (
          <a class="small" href={linkTo({ page: 'run', runId, tab: 'timeline', seq: item.decided_in })}>
            decided in event {item.decided_in}
          </a>
        )}
      </th>
      <td class="num">{operationsOf(item)}</td>
      <td class="num wide">{counts && figure(counts.change_sets)}</td>
      <td class="num wide">{counts && figure(counts.findings)}</td>
      <td class="num wide">{counts && figure(counts.tokens)}</td>
    </tr>
  )
}

function operationsOf({ counts }: Item): string {
  if (counts === null) return ''
  if (counts.estimate !== null && counts.planned === 0) return `about ${figure(counts.estimate.operations)}`
  return `${figure(counts.planned - counts.open)} / ${figure(counts.planned)}`
}

/** Says where an item works, what it waits for and may use, and how its operations ended. */
function detailsOf({ where, depends_on: needs, budget, counts, retries }: Item): string {
  const places = [where.paths, where.names, where.languages, where.kinds].flatMap((part) => part ?? [])
  const ends = Object.entries({ ...counts?.ended, ...counts?.faults }).flatMap(([name, count]) =>
    count === 0 ? [] : [`${count} ${name}`],
  )
  return [
    places.length > 0 && `in ${places.join(', ')}`,
    where.node_ids && plural(where.node_ids.length, 'named node'),
    needs.length > 0 && `after ${needs.join(', ')}`,
    budget.operations !== undefined && `at most ${plural(budget.operations, 'operation')}`,
    budget.tokens !== undefined && `at most ${plural(budget.tokens, 'token')}`,
    budget.seconds !== undefined && `at most ${budget.seconds} s`,
    retries > 0 && `retried ${retries} times`,
    ends.join(', '),
  ]
    .filter((part) => typeof part === 'string' && part !== '')
    .join(' · ')
}
