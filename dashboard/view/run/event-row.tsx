import { nodePlace } from '#domain/timeline/words.ts'
import type { Event } from '#client/wire.ts'
import { clockTime, roughly } from '../../core/page-time.ts'
import { silenceBefore, wordsOf } from '../../core/event-words.ts'
import type { OperationRow } from '../../core/outcome-tree.ts'

export const eventRowHeight = 26

type EventRowProps = {
  event: Event | undefined
  before: Event | undefined
  /** Is its operation, where that is known. */
  operation: OperationRow | undefined
  isSelected: boolean
  onSelect: (event: Event) => void
}

/** Shows an event as a line; the silence before it, where nothing happened for long. */
export function EventRow({ event, before, operation, isSelected, onSelect }: EventRowProps) {
  if (event === undefined) return <div class="event quiet">…</div>
  const silence = silenceBefore(event, before)
  const words = wordsOf(event)
  return (
    <button class="event" aria-pressed={isSelected} onClick={() => onSelect(event)}>
      <span class="quiet num">{event.seq}</span>
      <time class="quiet" datetime={event.ts}>
        {clockTime(event.ts)}
      </time>
      <span class="quiet cut wide">{event.category.replaceAll('_', ' ')}</span>
      <span class={event.status === 'error' ? 'cut bad' : 'cut'}>
        {silence !== undefined && <span class="badge">{roughly(silence)} nothing happened</span>} {words}{' '}
        {operation && <span class="quiet">{placeBehind(words, operation)}</span>}
      </span>
    </button>
  )
}

/** Names the node, unless the words before do. */
function placeBehind(words: string, { path, name }: OperationRow): string {
  if (!words.includes(path)) return nodePlace(path, name)
  return words.includes(name) ? '' : name
}
