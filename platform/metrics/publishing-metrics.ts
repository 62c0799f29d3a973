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
  remora_publications_retried_total: {
    ...counter,
    of: ['publisher'],
    labels: ['error_code'],
    about:
      'looks at a run that failed with what may pass, or with what nobody has foreseen (HTTP_007), and were tried again, or in the end given up',
  },
  remora_pull_requests_total: {
    ...counter,
    of: ['publisher'],
    labels: ['change'],
    about: 'pull requests that were `opened`, `updated`, `merged` or `closed`',
  },
  remora_publications_waiting: {
    ...everyPublisher,
    labels: [],
    about: 'runs of a code host that the publisher looks at again: those that are worked on, too',
  },
  remora_publications_overdue_seconds: {
    ...everyPublisher,
    labels: [],
    about: 'how long ago the publisher was to look at the one that has waited longest; 0 when it is up to date',
  },
  remora_webhooks_total: {
    ...counter,
    of: ['publisher'],
    labels: ['outcome'],
    about: 'webhooks that were handled: `run` (one was started), `acted`, `ignored` or `failed`',
  },
  remora_webhooks_waiting: {
    ...everyPublisher,
    of: ['api'],
    labels: [],
    about: 'webhooks in the inbox, which are not handled yet: of the api, since no publisher may be there',
  },
  remora_oldest_webhook_seconds: {
    ...everyPublisher,
    of: ['api'],
    labels: [],
    about: 'age of the oldest of them; 0 without one',
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
