import type { Loaded } from './use-loaded.ts'
import { NoAnswer, RemoraProblem } from '#client/connection.ts'

/** Says what went wrong, with its code, and offers to try again. */
export function ProblemBox({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  return (
    <div class="problem" role="alert">
      <p>{wordsOf(error)}</p>
      {onRetry && <button onClick={onRetry}>Try again</button>}
    </div>
  )
}

/** Says that something is still loaded, or what went wrong with that. */
export function LoadState({ value, error, again }: Loaded<unknown>) {
  if (error !== undefined) return <ProblemBox error={error} onRetry={again} />
  return value === undefined ? <p class="quiet">…</p> : null
}

function wordsOf(error: unknown): string {
  if (error instanceof RemoraProblem) return `${error.code}: ${error.message}`
  if (error instanceof NoAnswer) return `The service does not answer: ${error.message}`
  return error instanceof Error ? error.message : String(error)
}
