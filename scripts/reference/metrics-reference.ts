import { type MeasuredService, metricCatalogue, type MetricRow } from '#platform/metrics/metric-catalogue.ts'

const services: readonly { service: MeasuredService; about: string }[] = [
  {
    service: 'discovery',
    about:
      'What the runs, the workers and the stores come to: these gauges, with `max`, every discovery process shows alike. While Redis is away, or the dispatcher stands still for 15 s, they are absent instead of old. What has `sum` this process alone has done.',
  },
  { service: 'worker', about: 'What this process has done since its start, and has now.' },
  { service: 'api', about: 'What this process has answered since its start.' },
]

/** The text of docs/reference/metrics.md, made from the catalogue. */
export function metricsReference(): string {
  return [
    '# Metrics',
    '',
    'Every service serves its metrics for Prometheus at `/metrics`, beside `/healthz` and `/readyz`, on an address of its own',
    "(`REMORA_HEALTH_HOST` and the service's health port, [config.md](config.md)) and without a token. [Operations](../guide/operations.md#metrics)",
    'says what to watch. Labels take values of bounded sets: names of agents, tools, routes and servers, states and error codes.',
    'Ids and paths are in events and logs. `node scripts/write-reference.ts` makes this page from',
    '`platform/metrics/metric-catalogue.ts`.',
    '',
    'Where a service has several processes, a query takes the `sum` of their values or the greatest (`max`), as the column `over` says.',
    '',
    'Besides these there are the usual `process_*` and `nodejs_*` metrics of each process: CPU, memory, open files, garbage',
    'collection, and the delay of its event loop (`nodejs_eventloop_lag_p99_seconds`).',
    '',
    ...services.flatMap(({ service, about }) => [`## ${service}`, '', about, '', ...tableOf(service), '']),
  ].join('\n')
}

function tableOf(service: MeasuredService): string[] {
  const rows: [string, MetricRow][] = Object.entries(metricCatalogue)
  return [
    '| metric | kind | over | labels | |',
    '| --- | --- | --- | --- | --- |',
    ...rows.filter(([, { of }]) => of.includes(service)).map(([name, row]) => rowOf(name, row)),
  ]
}

function rowOf(name: string, { kind, over, labels, about, buckets }: MetricRow): string {
  const bounds = buckets === undefined ? '' : `, up to ${buckets.join(', ')} s`
  return `| \`${name}\` | ${kind}${bounds} | ${over} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${about} |`
}
