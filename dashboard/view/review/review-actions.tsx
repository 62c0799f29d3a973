import { plural } from '#domain/timeline/words.ts'
import type { RefObject } from 'preact'
import type { PublicationAsked } from '#schemas/github-schema.ts'
import { isEndedRun, type ReviewDesk } from '../../core/review-desk.ts'
import type { ReviewedSet } from '../../core/review-fold.ts'
import { saveFile, useAction } from '../parts/controls.tsx'
import { bulkVerbs } from './bulk-dialog.tsx'
import type { ReviewScreen } from './review-screen.ts'

const bulkVerdicts = ['accept', 'reject', 'undo'] as const

type PullButton = RefObject<HTMLButtonElement | null>
type ActionsProps = { screen: ReviewScreen; mayDecide: boolean; pull: PullButton }

/** Offers what is done with many changes: decide on all that is shown, try again, take the patch, open the pull request. */
export function ReviewActions({ screen, mayDecide, pull }: ActionsProps) {
  const { desk, counts, shown, dialog } = screen
  const { isBusy, run, problem } = useAction()
  const rejected = [...desk.sets.value.values()].filter(mayBeRetried)
  const leftOut = desk.run.value?.accepted_left_out ?? 0
  const isAble = counts.value.accepted > 0 && !isBusy
  return (
    <>
      <div class="row">
        {mayDecide &&
          bulkVerdicts.map((verdict) => (
            <button
              key={verdict}
              disabled={shown.value.length === 0}
              onClick={() => (dialog.value = { kind: 'bulk', verdict })}
            >
              {bulkVerbs[verdict]} all {verdict === 'undo' ? 'shown' : 'pending'} …
            </button>
          ))}
        <button disabled={!isAble} onClick={() => run(() => savePatch(desk))}>
          Download accepted patch
        </button>
        {leftOut > 0 && <span class="warn">{plural(leftOut, 'accepted change')} left out of it</span>}
        {mayDecide && <PullRequest desk={desk} isAble={isAble} button={pull} onAsk={() => run(() => publish(desk))} />}
        {mayDecide && isEndedRun(desk.run.value) && rejected.length > 0 && (
          <button disabled={isBusy} onClick={() => run(() => retryRejected(desk))}>
            Have {plural(rejected.length, 'rejected change')} made anew
          </button>
        )}
      </div>
      {problem}
    </>
  )
}

type PullProps = { desk: ReviewDesk; isAble: boolean; button: PullButton; onAsk: () => void }

/** The pull requests themselves, and why one could not be opened, are in the head of the run. */
function PullRequest({ desk, isAble, button, onAsk }: PullProps) {
  const run = desk.run.value
  if (run === undefined) return null
  const isOpen = run.publication?.pulls.some(({ state }) => state === 'open') === true
  const isMade = desk.isPullAsked.value
  const why =
    run.repository === null
      ? 'The code of this run was uploaded: take the patch, or “remora publish --to” pushes a branch'
      : undefined
  return (
    <>
      <button
        ref={button}
        class={isOpen || isMade ? undefined : 'primary'}
        disabled={!isAble || why !== undefined}
        aria-disabled={isMade}
        title={why}
        onClick={() => !isMade && onAsk()}
      >
        {isMade ? 'Making the pull request …' : isOpen ? 'Bring the pull request up to date' : 'Open the pull request'}
      </button>
      {why !== undefined && <span class="quiet small">{why}.</span>}
      {isMade && (
        <span class="quiet small" role="status">
          It may take a minute: you can go on here, or leave. It will stand at the top of this page.
        </span>
      )}
    </>
  )
}

/** A program would make the same change again, and without a word an agent would not know what to do otherwise. */
function mayBeRetried({ change, sending }: ReviewedSet): boolean {
  const isRejected = (sending ?? change.verdict) === 'rejected' && !change.is_redone
  return isRejected && typeof change.decision?.reason === 'string' && change.rules.length === 0
}

async function publish(desk: ReviewDesk): Promise<void> {
  await desk.connection.json<PublicationAsked>(`${desk.runPath}/publish`, { method: 'POST' })
  desk.isPullAsked.value = true
}

async function retryRejected(desk: ReviewDesk): Promise<void> {
  await desk.connection.send(`${desk.runPath}/retry`, { method: 'POST', json: { rejected: true } })
  desk.notice.value = {
    text: 'What was rejected with a word is tried again: what is made comes here as new changes.',
    tone: 'good',
  }
}

/** The service composes and proves the patch anew after a decision, which may take a while. */
async function savePatch({ connection, runPath, runId, notice }: ReviewDesk): Promise<void> {
  notice.value = { text: 'Composing …', tone: 'quiet' }
  const answer = await connection.send(`${runPath}/patch`, { query: { of: 'accepted' } })
  if (answer.status === 204)
    return void (notice.value = {
      text: 'Nothing is in the accepted patch: it may be left out, or changes nothing.',
      tone: 'warn',
    })
  saveFile(await answer.blob(), `${runId}.patch`)
  notice.value = undefined
}
