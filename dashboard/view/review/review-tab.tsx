import { useEffect, useRef, useState } from 'preact/hooks'
import { pause } from '#client/timers.ts'
import { isEndedRun, openReviewDesk } from '../../core/review-desk.ts'
import { OutsideLink, ProblemBox } from '../parts/shown.tsx'
import { useMayWrite, usePage } from '../page-context.ts'
import { useRun } from '../run/run-context.ts'
import { BulkDialog } from './bulk-dialog.tsx'
import { ChangeList } from './change-list.tsx'
import { KeysDialog } from './keys-dialog.tsx'
import { ReviewActions } from './review-actions.tsx'
import { useReviewKeys } from './review-keys.ts'
import { openScreen, type ReviewScreen, showChange } from './review-screen.ts'
import { ReviewToolbar } from './review-toolbar.tsx'

/** Shows what a run has changed, and takes decisions on it. */
export function ReviewTab({ runId }: { runId: string }) {
  const { connection, session } = usePage()
  const { feed } = useRun()
  const [screen, setScreen] = useState<ReviewScreen>()
  useEffect(() => {
    const desk = openReviewDesk({ connection, runId, feed, me: session.token_id })
    setScreen(openScreen(desk))
    return () => desk.close()
  }, [connection, runId, feed, session.token_id])
  return screen === undefined ? null : <Review screen={screen} />
}

function Review({ screen }: { screen: ReviewScreen }) {
  const { desk, dialog } = screen
  const mayDecide = useMayWrite()
  const search = useRef<HTMLInputElement>(null)
  const pull = useRef<HTMLButtonElement>(null)
  const goTo = { filter: () => search.current?.focus(), pull: () => pull.current?.focus() }
  useReviewKeys(screen, { mayDecide, goTo })
  const list = desk.list.value
  const close = () => (dialog.value = undefined)
  return (
    <div class="stack review">
      <ReviewActions screen={screen} mayDecide={mayDecide} pull={pull} />
      {list.kind === 'failed' && <ProblemBox error={list.error} onRetry={() => void desk.readAgain()} />}
      <ReviewToolbar screen={screen} search={search} />
      <Nothing screen={screen} />
      <ChangeList screen={screen} mayDecide={mayDecide} />
      <Foot screen={screen} />
      {dialog.value?.kind === 'keys' && <KeysDialog onClose={close} />}
      {dialog.value?.kind === 'bulk' && <BulkDialog screen={screen} verdict={dialog.value.verdict} onClose={close} />}
    </div>
  )
}

function Nothing({ screen: { desk, shown } }: { screen: ReviewScreen }) {
  if (shown.value.length > 0) return null
  const list = desk.list.value.kind
  if (desk.sets.value.size > 0) return <p class="quiet">No change is like that.</p>
  if (list === 'reading') return <p class="quiet">Reading the changes …</p>
  if (list === 'failed') return null
  const isOver = isEndedRun(desk.run.value)
  return (
    <p class="quiet">
      {isOver ? 'The run has changed nothing.' : 'Nothing has changed so far: changes come here as they are made.'}
    </p>
  )
}

/** What went well is said for so long. */
const restMs = 8_000

/** Says what was decided last, here or by others, and what is new. */
function Foot({ screen }: { screen: ReviewScreen }) {
  const { desk } = screen
  const { notice, fresh } = desk
  const said = notice.value
  useEffect(() => {
    const shown = new AbortController()
    const hide = async () => {
      await pause(restMs, shown.signal)
      notice.value = undefined
    }
    if (said?.link === undefined && (said?.tone === 'good' || said?.tone === 'quiet')) hide().catch(() => {})
    return () => shown.abort()
  }, [said])
  return (
    <div class="stack tight review-foot" role="status" aria-live="polite">
      {fresh.value > 0 && (
        <button class="primary" onClick={() => void desk.readAgain()}>
          {fresh.value} new · show
        </button>
      )}
      {said !== undefined && (
        <p class={`said ${said.tone}`}>
          {said.text} {said.link !== undefined && <OutsideLink url={said.link} words={said.link} />}
          {said.about !== undefined && (
            <button class="plain" onClick={() => showChange(screen, said.about)}>
              Show it
            </button>
          )}
          <button class="plain" aria-label="Dismiss" onClick={() => (notice.value = undefined)}>
            ✕
          </button>
        </p>
      )}
    </div>
  )
}
