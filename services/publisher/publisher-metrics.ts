import type { GitHubAppOptions } from '#code-hosts/github-client.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { Metrics } from '#platform/metrics/open-metrics.ts'
import type { PublishingRuns } from '#stages/publish/pulls/publishing-runs.ts'

/** `publication.ended` says how in its data. */
const pullEvents: Readonly<Record<string, string>> = {
  'publication.opened': 'opened',
  'publication.updated': 'updated',
}

/** They are counted from 0 on: Prometheus sees no rise in a series that begins at its first fault. */
const faultCodes = `HOST_001 HOST_002 HOST_003 HOST_004 PUBLISH_001 PUBLISH_002 STORE_003 HTTP_007`.split(' ')

/** Faults and what becomes of pull requests are counted once they are written. */
export function measuredLedger<Given extends Pick<Ledger, 'notePublication'>>(
  ledger: Given,
  { count }: Pick<Metrics, 'count'>,
): Given {
  for (const error_code of faultCodes) count('remora_publications_total', { outcome: 'failed', error_code }, 0)
  return {
    ...ledger,
    async notePublication(...args: Parameters<Ledger['notePublication']>) {
      const noted = await ledger.notePublication(...args)
      if (noted === undefined) return noted
      const [, { events = [] }] = args
      for (const { event, errorCode, data } of events) {
        if (event === 'publication.failed')
          count('remora_publications_total', { outcome: 'failed', error_code: errorCode ?? '' })
        const change = event === 'publication.ended' ? data.state : pullEvents[event]
        if (change !== undefined) count('remora_pull_requests_total', { change })
      }
      return noted
    },
  }
}

/** Every publisher shows the same. */
export function showOverdue({ gauge }: Pick<Metrics, 'gauge'>, { backlog }: Pick<PublishingRuns, 'backlog'>): void {
  gauge('remora_publications_overdue_seconds', async () => {
    const { dueAt } = await backlog()
    return [{ labels: {}, value: dueAt === null ? 0 : Math.max(0, Date.now() - dueAt) / 1000 }]
  })
}

/** It counts answers by their class, and shows what is left of the tightest limit. */
export function measuredRequests({ count, gauge }: Pick<Metrics, 'count' | 'gauge'>): GitHubAppOptions['onAnswer'] {
  const shares = new Map<string, { left: number; until: number }>()
  gauge('remora_host_limit_left_share', () => {
    for (const [id, { until }] of shares) if (until < Date.now()) shares.delete(id)
    const left = Array.from(shares.values(), (share) => share.left)
    return left.length === 0 ? [] : [{ labels: {}, value: Math.min(...left) }]
  })
  return (id, response) => {
    const result = response === undefined ? 'none' : `${Math.floor(response.status / 100)}xx`
    count('remora_host_requests_total', { result })
    const [limit, left, reset] = ['limit', 'remaining', 'reset'].map((name) =>
      Number(response?.headers.get(`x-ratelimit-${name}`) ?? Number.NaN),
    )
    if (limit && left !== undefined && reset && left >= 0) shares.set(id, { left: left / limit, until: reset * 1000 })
  }
}
