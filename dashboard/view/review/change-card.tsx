import { plural } from '#domain/timeline/words.ts'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { pause } from '#client/timers.ts'
import type { ChangeView } from '#schemas/change-schema.ts'
import type { OperationView } from '#schemas/operation-schema.ts'
import { useLoaded } from '../parts/use-loaded.ts'
import { linkTo } from '../../core/route.ts'
import { verdictOf } from '../../core/review-fold.ts'
import { leftOutWords, nameOfChange } from '../../core/review-words.ts'
import { CardHead } from './card-head.tsx'
import { DecisionLine } from './decision-line.tsx'
import { DiffView } from './diff-view.tsx'
import { EvidencePanel } from './evidence-panel.tsx'
import { RefusalBox } from './refusal-box.tsx'
import { RejectForm } from './reject-form.tsx'
import { type CardProps, type ReviewScreen, showChange, toggle } from './review-screen.ts'

/** Shows one change: what it is, its diff with the evidence beside it, and the decision on it. */
export function ChangeCard(props: CardProps) {
  const { screen, set, rowKey, path } = props
  const { change } = set
  const id = change.change_set_id
  const card = useRef<HTMLElement>(null)
  const isViewed = screen.viewed.value.has(id)
  const isOpen = isViewed === screen.turned.value.has(id)
  const isCurrent = screen.current.value === rowKey
  const isRejecting =
    screen.rejecting.value?.id === id && (isCurrent || screen.current.value === undefined || path === undefined)
  const goal = screen.goal.value
  useEffect(() => {
    if (goal?.key === rowKey && card.current !== null) card.current.focus({ preventScroll: true })
  }, [goal, rowKey])
  return (
    <article
      ref={card}
      class={`change ${verdictOf(set)}`}
      tabIndex={-1}
      aria-label={nameOfChange(change)}
      aria-current={isCurrent ? 'true' : undefined}
      onPointerDown={() => (screen.current.value = rowKey)}
      onFocusIn={() => (screen.current.value = rowKey)}
    >
      <CardHead {...props} isViewed={isViewed} isOpen={isOpen} />
      {set.refused !== undefined && <RefusalBox screen={screen} set={set} refused={set.refused} />}
      {isRejecting && <RejectForm screen={screen} isByProgram={change.rules.length > 0} />}
      {isOpen && <CardBody {...props} />}
    </article>
  )
}

function CardBody({ screen, set: { change }, path }: CardProps) {
  const { change_set_id: id, conflict, files } = change
  const isSplit = screen.isSplit.value
  // What is drawn costs the most, and is the same while only the decision is another.
  const diff = useMemo(
    () => <DiffView diff={change.diff} isSplit={isSplit} path={path} />,
    [change.diff, isSplit, path],
  )
  const others = files.filter((file) => path !== undefined && file.path !== path)
  return (
    <div class="change-body">
      <div class="change-side">
        <SummaryLine screen={screen} change={change} />
        <DecisionLine decision={change.decision} me={screen.desk.me} />
        {conflict !== undefined && (
          <p class="warn">
            Left out of the patch. {leftOutWords(conflict)}
            {conflict.with !== undefined && `: ${nameOfChange({ ...conflict.with.node, agent: conflict.with.agent })}`}
            <span class="detail">{conflict.reason}</span>
          </p>
        )}
        {change.diff.includes(secretMark) && <p class="warn">{secretMark} stands for a secret of the repository.</p>}
        {change.is_redone && <p class="warn">It has been made again since, otherwise.</p>}
        <EvidencePanel
          evidence={path === undefined ? change.evidence : change.evidence.filter((proof) => proof.path === path)}
          isOpen={screen.openEvidence.value.has(id)}
          onToggle={() => toggle(screen.openEvidence, id)}
        />
        <BuiltOn screen={screen} ids={change.built_on} words="Built on" />
        <BuiltOn screen={screen} ids={change.needed_by} words="Needed by" />
        {others.length > 0 && <p class="quiet">It also changes {others.map((file) => file.path).join(', ')}.</p>}
        <a href={linkTo({ page: 'operation', runId: screen.desk.runId, operationId: change.operation_id })}>
          The conversation
        </a>
      </div>
      <div class="change-diff">{diff}</div>
    </div>
  )
}

/** The service shows it instead of a secret. */
const secretMark = '[secret]'
const mostNamed = 5

function BuiltOn({ screen, ids, words }: { screen: ReviewScreen; ids: readonly string[]; words: string }) {
  const sets = ids.flatMap((id) => screen.desk.sets.value.get(id) ?? [])
  if (ids.length === 0) return null
  return (
    <p class="stack tight">
      <span class="quiet">{words}</span>
      {sets.slice(0, mostNamed).map((set) => (
        <button
          key={set.change.change_set_id}
          class="plain link"
          onClick={() => showChange(screen, set.change.change_set_id)}
        >
          {nameOfChange({ ...set.change, path: '' })} ({verdictOf(set)})
        </button>
      ))}
      {ids.length > mostNamed && <span class="quiet">and {plural(ids.length - mostNamed, 'other')}</span>}
    </p>
  )
}

/** Changes that are only scrolled past ask for nothing. */
const restMs = 200

/** Says what the agent has said of its work at the end, and whether it has made what was rejected again; of a program, what it does. */
function SummaryLine({ screen, change }: { screen: ReviewScreen; change: ChangeView }) {
  const { connection, runPath } = screen.desk
  const { rules, operation_id: id, verdict, decision } = change
  const { value } = useLoaded(`summary ${id}`, async (signal) => {
    if (rules.length > 0) return undefined
    await pause(restMs, signal)
    return connection.json<OperationView>(`${runPath}/operations/${id}`, { signal })
  })
  if (rules.length > 0)
    return <p class="summary">The safe fixes of {rules.join(', ')} in this file, made without a model.</p>
  const startedAt = value?.started_at ?? ''
  return (
    <>
      {value?.outcome?.summary && <p class="summary">{value.outcome.summary}</p>}
      {verdict === 'rejected' && decision !== null && startedAt > decision.decided_at && (
        <p class="warn">The agent was told, and has made the same change again.</p>
      )}
    </>
  )
}
