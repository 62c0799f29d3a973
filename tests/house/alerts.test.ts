import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { metricCatalogue, type MetricRow } from '#platform/metrics/metric-catalogue.ts'
import { lacks } from '#testing/this-machine.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const read = (path: string) => readFileSync(`${root}${path}`, 'utf8')

const Rule = z.object({ alert: z.string(), expr: z.string(), annotations: z.object({ runbook: z.string() }) })
const Rules = z.object({ groups: z.array(z.object({ rules: z.array(Rule) })) })
const Panel = z.looseObject({
  id: z.number(),
  title: z.string(),
  targets: z.array(z.object({ expr: z.string(), legendFormat: z.string() })).default([]),
})
const Dashboard = z.looseObject({ panels: z.array(Panel) })

const rules = Rules.parse(parse(read('infra/prometheus/alerts.yaml'))).groups.flatMap((group) => group.rules)
const { panels } = Dashboard.parse(JSON.parse(read('infra/grafana/remora-dashboard.json')))
const queries = [
  ...rules.map(({ alert, expr }) => ({ of: alert, expr, legend: '' })),
  ...panels.flatMap(({ title, targets }) =>
    targets.map(({ expr, legendFormat: legend }) => ({ of: title, expr, legend })),
  ),
]

const catalogue: Readonly<Record<string, MetricRow>> = metricCatalogue
/** Labels that Prometheus itself gives. */
const ofPrometheus = ['le', 'job', 'instance']

function rowOf(series: string): MetricRow | undefined {
  const whole = catalogue[series]
  if (whole !== undefined) return whole
  const histogram = catalogue[series.replace(/_(?:bucket|sum|count)$/, '')]
  return histogram?.kind === 'histogram' ? histogram : undefined
}

describe('the alerts and the dashboard', () => {
  it.each(queries)('$of asks for metrics and labels that there are', ({ expr, legend }) => {
    const asked = expr.match(/\bremora_\w+/g) ?? []
    const others = expr.match(/\b(?:nodejs|process)_\w+/g) ?? []
    expect(asked.length + others.length).toBeGreaterThan(0)
    const rows = asked.map((series) => [series, rowOf(series)] as const)
    expect(rows.filter(([, row]) => row === undefined)).toEqual([])
    const known = [...rows.flatMap(([, row]) => row?.labels ?? []), ...ofPrometheus]
    const matched = [...expr.matchAll(/(\w+)\s*(?:=~|!=|!~|=)\s*"/g)].map(([, label]) => label)
    const grouped = [...expr.matchAll(/\b(?:by|on)\s*\(([^)]*)\)/g)].flatMap(([, names = '']) => names.split(/\s*,\s*/))
    const shown = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label)
    expect([...matched, ...grouped, ...shown].filter((label) => !known.includes(label ?? ''))).toEqual([])
  })

  it('say for each alert what to do, and nothing for alerts that there are not', () => {
    const headings = [...read('docs/guide/alerts.md').matchAll(/^## (Remora\w+)$/gm)].map(([, name]) => name)
    expect(headings).toEqual(rules.map(({ alert }) => alert))
    for (const { alert, annotations } of rules) {
      expect(annotations.runbook).toBe(`docs/guide/alerts.md#${alert.toLowerCase()}`)
    }
  })

  it('have panels with ids of their own', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  })

  it.skipIf(lacks('promtool'))('fire for what they are about and not before, says promtool', () => {
    const tests = `${root}infra/prometheus/alerts.test.yaml`
    const { status, stdout } = spawnSync('promtool', ['test', 'rules', tests], { encoding: 'utf8' })
    expect(status, stdout).toBe(0)
  })
})
