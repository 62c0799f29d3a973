import { figure } from '#domain/figure.ts'
import { formatSeconds, modelText, plural, usedUpText } from '#domain/timeline/words.ts'
import type { Run } from '#client/wire.ts'
import type { WaitingFor } from '#schemas/waiting-schema.ts'
import { linkTo } from '../../core/route.ts'
import { totalsOf } from '../../core/run-words.ts'
import { CountsBar } from '../parts/counts-bar.tsx'
import { type Fact, Facts } from '../parts/facts.tsx'
import { lazyPage } from '../parts/lazy-page.tsx'
import { At, Since } from '../parts/times.tsx'
import { ActiveOperations } from './active-operations.tsx'
import { AnswerBox, ChecksBox, FailuresBox, FunnelBox } from './result-boxes.tsx'
import { RequestBox } from './request-box.tsx'

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
