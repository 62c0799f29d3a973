import type { Loaded } from './use-loaded.ts'
import { faultWords } from '../../core/review-words.ts'

/** Says what went wrong, with its code, and offers to try again. */
export function ProblemBox({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  return (
    <div class="problem" role="alert">
      <p>{faultWords(error)}</p>
      {onRetry && <button onClick={onRetry}>Try again</button>}
    </div>
  )
}

/** Says that something is still loaded, or what went wrong with that. */
export function LoadState({ value, error, again }: Loaded<unknown>) {
  if (error !== undefined) return <ProblemBox error={error} onRetry={again} />
  return value === undefined ? <p class="quiet">…</p> : null
}
