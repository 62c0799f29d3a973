import { useEffect } from 'preact/hooks'
import { actionOf, type ReviewAction } from '../../core/review-keymap.ts'
import {
  currentRow,
  decideOne,
  keyOfRow,
  move,
  type ReviewScreen,
  startRejecting,
  toggle,
  toggleViewed,
  undo,
} from './review-screen.ts'

/** Does what keys ask for while the review is shown. `mayDecide` is false for a token that only reads. */
export function useReviewKeys(
  screen: ReviewScreen,
  { mayDecide, goTo }: { mayDecide: boolean; goTo: Readonly<Record<'filter' | 'pull', () => void>> },
): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const action = actionOf(event, placeOf(event.target))
      if (action === undefined) return
      event.preventDefault()
      if (action === 'filter' || action === 'pull') goTo[action]()
      else act(screen, action, mayDecide)
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [screen, mayDecide])
}

function placeOf(target: EventTarget | null) {
  const isTyping = target instanceof Element && target.closest('input:not([type=checkbox]), textarea, select') !== null
  return {
    isElsewhere: isTyping || document.querySelector('dialog[open]') !== null,
    isOnControl: target instanceof Element && target.closest('button, a, summary') !== null,
  }
}

function act(screen: ReviewScreen, action: Exclude<ReviewAction, 'filter' | 'pull'>, mayDecide: boolean): void {
  if (action === 'keys') return void (screen.dialog.value = { kind: 'keys' })
  if (action === 'next' || action === 'previous') return move(screen, action === 'next' ? 1 : -1)
  if (action === 'layout') return void (screen.isSplit.value = !screen.isSplit.value)
  if (action === 'accept_all' && mayDecide) return void (screen.dialog.value = { kind: 'bulk', verdict: 'accept' })
  const row = screen.rows.value[currentRow(screen)]
  if (row?.kind !== 'change') return
  screen.current.value = keyOfRow(row)
  if (action === 'evidence') return toggle(screen.openEvidence, row.id)
  if (action === 'viewed') return toggleViewed(screen, row.id)
  if (!mayDecide || action === 'accept_all')
    return void (screen.desk.notice.value = { text: 'This token may only look', tone: 'warn' })
  if (action === 'reject') return startRejecting(screen, row.id)
  if (action === 'undo') return undo(screen, row.id)
  decideOne(screen, row.id, 'accept')
  move(screen, 1, { isPending: true })
}
