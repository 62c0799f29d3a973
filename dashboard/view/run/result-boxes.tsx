import { errorPolicies, isErrorCode } from '#domain/error.ts'
import { figure } from '#domain/figure.ts'
import { adviceOnOperation } from '#domain/operation-advice.ts'
import { formatSeconds, nodePlace, plural } from '#domain/timeline/words.ts'
import type { Run } from '#client/wire.ts'
import { linkTo } from '../../core/route.ts'
import { TableBox } from '../parts/shown.tsx'

/** Shows what the run has come to, with what that rests on. */
export function AnswerBox({ answer, runId }: { answer: NonNullable<Run['answer']>; runId: string }) {
  const places = [...answer.paths, ...answer.findings.map(({ path, line }) => `${path}:${line}`)]
  return (
    <section class="box" aria-label="Answer">
      <h2>Answer</h2>
      <p class="answer">{answer.text}</p>
      <p class="quiet small">
        {places.length > 0 && `It rests on ${places.join(', ')}. `}
        {answer.events.length > 0 && (
          <>
            Events:{' '}
            {answer.events.map((seq) => (
              <a key={seq} href={linkTo({ page: 'run', runId, tab: 'timeline', seq })}>
                {seq}{' '}
              </a>
            ))}
          </>
        )}
      </p>
    </section>
  )
}

/** Groups failed and blocked operations by code, with the first example of each and the advice. */
export function FailuresBox({ run }: { run: Run }) {
  if (run.failures.length === 0) return null
  return (
    <section class="box" aria-label="Failures">
      <h2>Failed and blocked</h2>
      <TableBox label="Failures by code" columns={[['Count', 'num'], ['What, and what to do']]}>
        {run.failures.map((failure) => (
          <tr key={failure.error_code}>
            <td class="num">{figure(failure.count)}</td>
            <td class="wrap">
              <div>
                <b>{failure.error_code ?? 'no code'}</b> {meaningOf(failure.error_code)}
              </div>
              <div>
                First:{' '}
                <a href={linkTo({ page: 'operation', runId: run.run_id, operationId: failure.operation_id })}>
                  {failure.agent} on {nodePlace(failure.path, failure.qualified_name)}
                </a>
              </div>
              {failure.reason !== null && <div class="quiet">{failure.reason}</div>}
              {failure.error_code !== null && <div>→ {adviceOnOperation(failure.error_code).text}</div>}
            </td>
          </tr>
        ))}
      </TableBox>
    </section>
  )
}

function meaningOf(code: string | null): string {
  return isErrorCode(code) ? errorPolicies[code].meaning : ''
}

/** Shows what became of the change sets of each agent, from those generated to those merged. */
export function FunnelBox({ run }: { run: Run }) {
  if (run.funnel.length === 0) return null
  const steps = ['generated', 'valid', 'verified', 'accepted', 'rejected', 'merged'] as const
  return (
    <section class="box" aria-label="Changes">
      <h2>Changes</h2>
      <TableBox label="Changes of each agent" columns={[['Agent'], ...steps.map((step) => [step, 'num'] as const)]}>
        {run.funnel.map((row) => (
          <tr key={row.agent}>
            <th scope="row">{row.agent}</th>
            {steps.map((step) => (
              <td key={step} class="num">
                {row[step] === null ? '–' : figure(row[step])}
              </td>
            ))}
          </tr>
        ))}
      </TableBox>
      <a href={linkTo({ page: 'run', runId: run.run_id, tab: 'review' })}>Review them</a>
    </section>
  )
}

/** Shows what was proved about the composed patch, and what the gate found. */
export function ChecksBox({ run }: { run: Run }) {
  const checks = Object.entries(run.checks)
  const { gate } = run
  if (checks.length === 0 && gate === null) return null
  return (
    <section class="box" aria-label="Checks">
      <h2>Checks of the patch</h2>
      <table>
        <tbody>
          {checks.map(([name, check]) => (
            <tr key={name}>
              <th scope="row">{name.replaceAll('_', ' ')}</th>
              <td class={check.ok < check.total ? 'num bad' : 'num'}>
                {figure(check.ok)} of {plural(check.total, 'file')}
              </td>
              <td class="quiet">
                {[
                  check.with_errors !== undefined && `${check.with_errors} with errors as before`,
                  check.not_checked !== undefined && `${check.not_checked} not checked`,
                  check.noticed !== undefined && `${check.noticed} of ${check.planted} planted faults noticed`,
                ]
                  .filter(Boolean)
                  .join(', ')}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {gate && (
        <p>
          Gate <code>{gate.command}</code>: <b class={gate.verdict === 'passed' ? 'good' : 'bad'}>{gate.verdict}</b>
          {gate.reason === undefined ? '' : `, ${gate.reason}`} ({plural(gate.runs, 'run')},{' '}
          {formatSeconds(gate.duration_ms)}, {plural(gate.left_out, 'change set')} left out)
        </p>
      )}
      {run.conflicts > 0 && (
        <a href={linkTo({ page: 'run', runId: run.run_id, tab: 'review' })}>
          {plural(run.conflicts, 'change set')} left out of the patch
        </a>
      )}
    </section>
  )
}
