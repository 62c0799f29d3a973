import { counter, type MetricRow } from './metric-row.ts'

const everyPublisher = { kind: 'gauge', over: 'max', of: ['publisher'] } as const

export const ofPublishing = {
  remora_publications_total: {
    ...counter,
    of: ['publisher'],
    labels: ['outcome', 'error_code'],
    about:
      'how often the publisher came to an end with a run: `published` (its pull request is open), `without` one (nothing to publish, merged, closed, or held back), or `failed` with its code. A run that somebody decides on later comes again',
  },
  remora_pull_requests_total: {
    ...counter,
    of: ['publisher'],
    labels: ['change'],
    about: 'pull requests that were `opened`, `updated`, `merged` or `closed`',
  },
  remora_publications_overdue_seconds: {
    ...everyPublisher,
    labels: [],
    about: 'how long ago the publisher was to look at the run that has waited longest; 0 when it is up to date',
  },
  remora_oldest_webhook_seconds: {
    ...everyPublisher,
    of: ['api'],
    labels: [],
    about:
      'age of the oldest webhook that is not handled yet; 0 without one: of the api, since no publisher may be there',
  },
  remora_host_requests_total: {
    ...counter,
    of: ['publisher'],
    labels: ['result'],
    about: 'requests to GitHub by the class of their answers: `2xx`, `3xx`, `4xx`, `5xx`, or `none` that came in time',
  },
  remora_host_limit_left_share: {
    kind: 'gauge',
    over: 'max',
    of: ['publisher'],
    labels: [],
    about:
      'what is left of the hourly limit of requests, as GitHub says in its answers: of the installation that has the smallest share left, as this process has seen it',
  },
} as const satisfies Record<string, MetricRow>
