import { type MeasuredService, metricCatalogue, type MetricRow } from '#platform/metrics/metric-catalogue.ts'

const services: readonly { service: MeasuredService; about: string }[] = [
  {
    service: 'discovery',
    about:
      'Every discovery process shows the gauges with `max` alike: what the runs, the workers and the stores come to. While Redis is away, or the dispatcher stands still for 15 s, they are absent instead of old.',
  },
  { service: 'worker', about: 'What this process has done since its start, and has now.' },
  { service: 'watcher', about: 'What this process has asked since its start.' },
  { service: 'conductor', about: 'What this process has decided since its start.' },
  { service: 'api', about: 'What this process has answered since its start.' },
]

const rows: readonly [name: string, row: MetricRow][] = Object.entries(metricCatalogue)
const shared = rows.filter(([, { of }]) => of.length > 1)

/** The text of docs/reference/metrics.md, made from the catalogue. */
export function metricsReference(): string {
  return [
    '# Metrics',
    '',
    'Every service serves its metrics for Prometheus at `/metrics`, beside `/healthz` and `/readyz`, on an address of its own',
    "(`REMORA_HEALTH_HOST` and the service's health port, [config.md](config.md)) and without a token. [Operations](../guide/operations.md#metrics)",
    'says what to watch. Labels have bounded sets of values. `node scripts/write-reference.ts` makes this page from',
    '`platform/metrics/metric-catalogue.ts`.',
    '',
    'Where a service has several processes, a query takes the `sum` of their values or the greatest (`max`), as the column `over` says.',
    '',
    'Besides these there are the usual `process_*` and `nodejs_*` metrics of each process: CPU, memory, open files, garbage',
    'collection, and the delay of its event loop (`nodejs_eventloop_lag_p99_seconds`).',
    '',
    `Histograms count up to these bounds, in s: ${boundsTexts().join('; ')}.`,
    '',
    ...services.flatMap(({ service, about }) => {
      return [`## ${service}`, '', about, '', ...tableOf(rows.filter(([, { of }]) => of.join('') === service)), '']
    }),
    '## Several services',
    '',
    ...shared.map(([name, { of }]) => `- \`${name}\`: ${of.join(', ')}`),
    '',
    ...tableOf(shared),
    '',
  ].join('\n')
}

function boundsTexts(): string[] {
  return [...new Set(rows.flatMap(([, { buckets }]) => (buckets === undefined ? [] : [buckets.join(', ')])))]
}

function tableOf(some: typeof rows): string[] {
  return [
    '| metric | kind | over | labels | |',
    '| --- | --- | --- | --- | --- |',
    ...some.map(([name, row]) => rowOf(name, row)),
  ]
}

function rowOf(name: string, { kind, over, labels, about, buckets }: MetricRow): string {
  const bounds = buckets === undefined ? '' : `, to ${buckets.at(-1)} s`
  return `| \`${name}\` | ${kind}${bounds} | ${over} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${about} |`
}
