import { clockTime, currentTime, roughly } from '../../core/page-time.ts'

/** Shows when something was. */
export function At({ ts }: { ts: string }) {
  return (
    <time datetime={ts} title={new Date(ts).toLocaleString()}>
      {clockTime(ts)}
    </time>
  )
}

/** Shows for how long something lasts; it counts on. */
export function Since({ ts }: { ts: string }) {
  return (
    <time datetime={ts} title={new Date(ts).toLocaleString()}>
      {roughly(currentTime() - Date.parse(ts))}
    </time>
  )
}
