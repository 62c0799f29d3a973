import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { untilAborted } from '../clock.ts'
import { packageVersion } from '../package-version.ts'
import {
  type CounterName,
  type GaugeName,
  type HistogramName,
  type LabelsOf,
  type MeasuredService,
  metricCatalogue,
  type MetricRow,
} from './metric-catalogue.ts'

export type Sample<Name extends GaugeName> = { labels: LabelsOf<Name>; value: number }

/** No call waits or throws. */
export type Metrics = {
  count<Name extends CounterName>(name: Name, labels: LabelsOf<Name>, by?: number): void
  observe<Name extends HistogramName>(name: Name, labels: LabelsOf<Name>, seconds: number): void
  /** `read` is asked at every look at the metrics. While it fails, or takes over a second, the gauge has no value: an old one would look new. */
  gauge<Name extends GaugeName>(
    name: Name,
    read: () => readonly Sample<Name>[] | Promise<readonly Sample<Name>[]>,
  ): void
}

export type OpenMetrics = Metrics & {
  text(): Promise<string>
  contentType: string
}

const readMs = 1_000
/** A finer watch of the event loop would wake an idle process more often than its own work does. */
const loopPrecisionMs = 50

/** Opens the metrics of one process. Those that the catalogue gives its service are there from the start. */
export function openMetrics(service: MeasuredService): OpenMetrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: loopPrecisionMs })
  const [counters, gauges] = [new Map<string, Counter>(), new Map<string, GaugeRead>()]
  const histograms = new Map<string, Histogram>()
  for (const [name, row] of rowsOf(service)) {
    const { kind, labels, about: help, buckets = [] } = row
    const described = { name, help, labelNames: [...labels], registers: [registry] }
    if (kind === 'counter') counters.set(name, new Counter(described))
    else if (kind === 'gauge') gauges.set(name, openGauge(described))
    else histograms.set(name, new Histogram({ ...described, buckets: [...buckets] }))
  }
  const metrics: Metrics = {
    count: (name, labels, by = 1) => counters.get(name)?.inc(labels, by),
    observe: (name, labels, seconds) => histograms.get(name)?.observe(labels, seconds),
    gauge: (name, read) => gauges.get(name)?.(read),
  }
  metrics.gauge('remora_build_info', () => [{ labels: { version: packageVersion() }, value: 1 }])
  return { ...metrics, text: () => registry.metrics(), contentType: registry.contentType }
}

function rowsOf(service: MeasuredService): [string, MetricRow][] {
  const rows: [string, MetricRow][] = Object.entries(metricCatalogue)
  return rows.filter(([, { of }]) => of.includes(service))
}

type ReadSamples = () => readonly AnySample[] | Promise<readonly AnySample[]>
type AnySample = { labels: Readonly<Record<string, string>>; value: number }
type GaugeRead = (read: ReadSamples) => void

function openGauge(described: { name: string; help: string; labelNames: string[]; registers: Registry[] }): GaugeRead {
  let read: ReadSamples = () => []
  const gauge = new Gauge({
    ...described,
    async collect() {
      gauge.reset()
      gauge.remove({}) // without labels, reset leaves a 0 that nobody has read
      const samples = await untilAborted(Promise.resolve().then(read), AbortSignal.timeout(readMs)).catch(() => [])
      for (const { labels, value } of samples) gauge.set(labels, value)
    },
  })
  return (next) => void (read = next)
}
