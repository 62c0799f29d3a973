import { useLayoutEffect, useRef } from 'preact/hooks'
import { reject, type ReviewScreen } from './review-screen.ts'

/** Asks why a change is rejected. Enter sends it, with or without a word; Escape leaves it. */
export function RejectForm({ screen, isByProgram }: { screen: ReviewScreen; isByProgram: boolean }) {
  const text = useRef<HTMLTextAreaElement>(null)
  const { rejecting } = screen
  // Before the next key: what somebody types at once is the word, and no command.
  useLayoutEffect(() => {
    const card = text.current?.closest('article')
    text.current?.focus()
    return () => card?.focus({ preventScroll: true })
  }, [])
  const given = rejecting.value
  if (given === undefined) return null
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Escape') rejecting.value = undefined
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
    event.preventDefault()
    reject(screen)
  }
  return (
    <form
      class="stack tight reject"
      onSubmit={(event) => {
        event.preventDefault()
        reject(screen)
      }}
    >
      <label class="field">
        Why not?{' '}
        <span class="quiet">
          {isByProgram ? 'For the people who look at it later' : 'For people, and for its agent'}. Enter sends it, Shift
          and Enter begin a line.
        </span>
        <textarea
          ref={text}
          rows={2}
          maxLength={2000}
          value={given.reason}
          onKeyDown={press}
          onInput={(event) => (rejecting.value = { ...given, reason: event.currentTarget.value })}
        />
      </label>
      <RejectButtons rejecting={rejecting} isByProgram={isByProgram} />
    </form>
  )
}

function RejectButtons({ rejecting, isByProgram }: Pick<ReviewScreen, 'rejecting'> & { isByProgram: boolean }) {
  const given = rejecting.value
  if (given === undefined) return null
  return (
    <div class="row">
      {!isByProgram && (
        <label class="check">
          <input
            type="checkbox"
            checked={given.isRetried}
            onChange={(event) => (rejecting.value = { ...given, isRetried: event.currentTarget.checked })}
          />
          Have the agent make it anew, heeding this: the run begins again
        </label>
      )}
      <button type="button" onClick={() => (rejecting.value = undefined)}>
        Leave it as it is
      </button>
      <button class={given.reason.trim() === '' ? undefined : 'danger'} type="submit">
        {given.reason.trim() === '' ? 'Reject without a word' : given.isRetried ? 'Reject, and try again' : 'Reject'}
      </button>
    </div>
  )
}
