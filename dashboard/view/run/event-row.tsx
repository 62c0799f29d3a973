import type { Event } from '#client/wire.ts'
import { clockTime, roughly } from '../../core/clock.ts'
import { silenceBefore, wordsOf } from '../../core/event-words.ts'

export const eventRowHeight = 26

type EventRowProps = {
  event: Event | undefined
  before: Event | undefined
  /** Names the node of its operation, where that is known. */
  place: string | undefined
  isSelected: boolean
  onSelect: (event: Event) => void
}

/** Shows an event as a line; the silence before it, where nothing happened for long. */
export function EventRow({ event, before, place, isSelected, onSelect }: EventRowProps) {
  if (event === undefined) return <div class="event quiet">…</div>
  const silence = silenceBefore(event, before)
  return (
    <button class="event" aria-pressed={isSelected} onClick={() => onSelect(event)}>
      <span class="quiet num">{event.seq}</span>
      <time class="quiet" datetime={event.ts}>
        {clockTime(event.ts)}
      </time>
      <span class="quiet cut wide">{event.category.replaceAll('_', ' ')}</span>
      <span class={event.status === 'error' ? 'cut bad' : 'cut'}>
        {silence !== undefined && <span class="badge">{roughly(silence)} nothing happened</span>} {wordsOf(event)}{' '}
        {place !== undefined && <span class="quiet">{place}</span>}
      </span>
    </button>
  )
}
