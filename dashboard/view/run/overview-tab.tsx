import { figure } from '#domain/figure.ts'
import { doingText, formatSeconds, modelText, nodePlace, plural, usedUpText } from '#domain/timeline/words.ts'
import type { Run } from '#client/wire.ts'
import type { WaitingFor } from '#schemas/waiting-schema.ts'
import { linkTo } from '../../core/route.ts'
import { totalsOf } from '../../core/run-words.ts'
import { At, CountsBar, type Fact, Facts, Since } from '../parts/shown.tsx'
import { lazyPage } from '../parts/lazy-page.tsx'
import { AnswerBox, ChecksBox, FailuresBox, FunnelBox } from './result-boxes.tsx'

const RunCharts = lazyPage(async () => {
  mendLanguage()
  return (await import('./run-charts.tsx')).RunCharts
})

/** A Chromium that runs with `LANG=C` calls its language `en-US@posix`, which its own `Intl` refuses, and so uPlot does not load. */
function mendLanguage(): void {
  try {
    Intl.getCanonicalLocales(navigator.language)
  } catch {
    Object.defineProperty(navigator, 'language', { value: 'en-US' })
  }
}

const phases = ['snapshot', 'discovery', 'planning', 'execution', 'review'] as const

export function OverviewTab({ run }: { run: Run }) {
  return (
    <div class="stack">
      <PhaseBar run={run} />
      {run.unread.length > 0 && (
        <p class="notice">
          The object store is away or slow: not read are {run.unread.join(', ').replaceAll('_', ' ')}.
        </p>
      )}
      {run.error_code !== null && (
        <p class="problem">
          {run.error_code} {run.reason}
        </p>
      )}
      {run.waiting_for.map((waited) => (
        <Waiting key={waited.kind} waited={waited} runId={run.run_id} />
      ))}
      {run.answer && <AnswerBox answer={run.answer} runId={run.run_id} />}
      <div class="columns">
        <section class="box" aria-label="Operations">
          <h2>Operations</h2>
          <CountsBar counts={run.counts} hasLegend />
          <Figures run={run} />
        </section>
        {run.ended_at === null ? <ActiveOperations run={run} /> : <FailuresBox run={run} />}
      </div>
      {run.ended_at === null && <FailuresBox run={run} />}
      <RunCharts run={run} />
      <div class="columns">
        <FunnelBox run={run} />
        <ChecksBox run={run} />
      </div>
      <RequestBox run={run} />
    </div>
  )
}

function PhaseBar({ run }: { run: Run }) {
  const at = phases.indexOf(run.phase)
  const isDone = run.status === 'completed'
  return (
    <div class="stack tight">
      <ol class="phases" aria-label="Phases">
        {phases.map((phase, index) => {
          const state = isDone || index < at ? 'done' : index === at ? 'now' : 'open'
          return (
            <li key={phase} data-phase={state} aria-current={state === 'now' ? 'step' : undefined}>
              {phase}
            </li>
          )
        })}
      </ol>
      {run.ended_at === null && <p>{run.current_step}</p>}
      {run.composing && (
        <p class="quiet">
          composing the patch: {figure(run.composing.operations_read)} of {figure(run.composing.operations)} operations
          read, {figure(run.composing.files_proved)} of {figure(run.composing.files)} files proved
        </p>
      )}
    </div>
  )
}

function Waiting({ waited, runId }: { waited: WaitingFor; runId: string }) {
  return (
    <div class="notice" role="status">
      <p>
        Waits for {waitingWords(waited)}
        {'since' in waited && (
          <>
            {', for '}
            <Since ts={waited.since} />
          </>
        )}
        .
      </p>
      {waited.kind === 'answer' && <a href={linkTo({ page: 'run', runId, tab: 'questions' })}>Answer</a>}
      {waited.kind === 'approval' && <a href={linkTo({ page: 'run', runId, tab: 'plan' })}>Look at the plan</a>}
    </div>
  )
}

function waitingWords(waited: WaitingFor): string {
  switch (waited.kind) {
    case 'models':
      return `${modelText(waited.model)}, of which no server works${waited.servers
        .map(({ url, last_error: error }) => ` (${url}: ${error ?? 'no answer yet'})`)
        .join('')}`
    case 'answer':
      return plural(waited.questions, 'answer')
    case 'store':
      return `the object store, which is ${waited.state}: ${waited.message}`
    case 'budget':
      return `tokens: ${usedUpText(waited)}${waited.resets_at === null ? '' : `; the day ends at ${waited.resets_at}`}`
    case 'approval':
      return 'the approval of its plan'
    case 'tool':
      return `tools that take long, of ${plural(waited.operations, 'operation')}`
  }
}

function Figures({ run }: { run: Run }) {
  const { total, ended } = totalsOf(run.counts)
  const { last_minute: pace, estimated_end: end, budget } = run
  const isOpen = run.ended_at === null
  const lastMinute = (text: string) => isOpen && <span class="quiet"> ({text} in the last minute)</span>
  const facts: Fact[] = [
    ['Ended', [`${figure(ended)} of ${figure(total)}`, lastMinute(figure(pace.operations))]],
    [
      'Tokens',
      [
        `${figure(run.tokens_in)} sent, ${figure(run.tokens_out)} received`,
        lastMinute(`${figure(pace.tokens_in)} and ${figure(pace.tokens_out)}`),
      ],
    ],
    ['Budget', budget.tokens !== null && `${figure(budget.used)} of ${plural(budget.tokens, 'token')} used`],
    ['Took', run.duration_ms === null ? <Since ts={run.accepted_at} /> : formatSeconds(run.duration_ms)],
    [
      'Estimated end',
      isOpen && [end === null ? 'not known yet' : <At ts={end.at} />, <span class="quiet"> {end?.how}</span>],
    ],
    ['Code', `${plural(run.files, 'file')}, ${plural(run.nodes, 'node')}, ${plural(run.findings, 'finding')}`],
  ]
  return <Facts facts={facts} />
}

const shown = 10
const doings = ['prepare', 'slot', 'model', 'tool', 'deferred', 'proof', 'person'] as const

/** Shows what moves now. */
function ActiveOperations({ run }: { run: Run }) {
  const words = doings.flatMap((doing) => {
    const count = run.active[doing] ?? 0
    return count === 0 ? [] : [`${count} ${doingText(doing, count)}`]
  })
  return (
    <section class="box" aria-label="What moves now">
      <h2>What moves now</h2>
      <p class="quiet">
        {words.length === 0 ? 'No operation runs.' : `${words.join(', ')}.`}{' '}
        {run.model_requests > 0 && `Model servers work on ${plural(run.model_requests, 'request')}.`}
      </p>
      <table>
        <tbody>
          {run.active_operations.slice(0, shown).map((operation) => (
            <tr key={operation.operation_id}>
              <th scope="row" class="wrap">
                <a href={linkTo({ page: 'operation', runId: run.run_id, operationId: operation.operation_id })}>
                  {nodePlace(operation.path, operation.qualified_name)}
                </a>
                <div class="quiet small">
                  {operation.agent}: {doingText(operation.doing)}
                  {operation.tool === undefined ? '' : ` (${operation.tool})`}
                  {operation.turn ? `, turn ${operation.turn}` : ''}
                </div>
              </th>
              <td class="num">
                <Since ts={operation.since} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {run.active_operations.length > shown && (
        <a href={linkTo({ page: 'run', runId: run.run_id, tab: 'operations' })}>All operations</a>
      )}
    </section>
  )
}

/** Shows what was asked for, and what of it was skipped. */
function RequestBox({ run }: { run: Run }) {
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
