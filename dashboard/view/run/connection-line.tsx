import { plural } from '#domain/timeline/words.ts'
import type { Link } from '../../core/run-feed.ts'
import { usePage } from '../page-context.ts'
import { useRun } from './run-context.ts'

/** Says how the page is connected, and what became of the events while it was not. */
export function ConnectionLine() {
  const { isAway } = usePage()
  const link = useRun().feed.link.value
  const isBroken = isAway.value || link.kind === 'broken'
  return (
    <span class="small" role="status">
      <span class="dot" data-state={isBroken ? 'bad' : link.kind === 'live' ? 'good' : 'idle'} />{' '}
      {isBroken ? 'not connected, trying again' : wordsOf(link)}
    </span>
  )
}

function wordsOf(link: Link): string {
  switch (link.kind) {
    case 'connecting':
      return 'connecting …'
    case 'live':
      if (link.isAnew) return 'live; too much had happened meanwhile, so all was read anew'
      return link.missed === 0 ? 'live' : `live; ${plural(link.missed, 'event')} were missed and are shown`
    case 'ended':
      return 'ended; what is decided about it is followed'
    case 'broken':
      return 'not connected, trying again'
    case 'gone':
      return 'deleted'
  }
}
