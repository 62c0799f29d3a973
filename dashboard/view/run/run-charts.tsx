import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import { figure } from '#domain/figure.ts'
import { plural } from '#domain/timeline/words.ts'
import type { Run } from '#client/wire.ts'
import { readUnasked } from '../../core/operation-list.ts'
import { historyOf } from '../../core/run-history.ts'
import { totalsOf } from '../../core/run-words.ts'
import { useRun } from './run-context.ts'

/** Shows how many operations had ended over time, and their tokens. It is made of the operations, so that it is whole whenever the page was opened. */
export function RunCharts({ run }: { run: Run }) {
  const { total } = totalsOf(run.counts)
  const [isWanted, setWanted] = useState(total <= readUnasked)
  if (total === 0) return null
  return (
    <section class="box" aria-label="Over time">
      <h2>Over time</h2>
      {isWanted ? (
        <HistoryCharts run={run} />
      ) : (
        <div>
          <button onClick={() => setWanted(true)}>Read the history of {plural(total, 'operation')}</button>
        </div>
      )}
    </section>
  )
}

function HistoryCharts({ run }: { run: Run }) {
  const list = useRun().operations()
  const version = list.version.value
  const history = useMemo(() => historyOf(list.rows, Date.parse(run.accepted_at)), [version])
  return (
    <>
      {!list.isWhole.value && <p class="quiet">{figure(list.rows.length)} operations read …</p>}
      <div class="columns">
        <Chart name="Operations that had ended" times={history.times} values={history.ended} colour="--good-bar" />
        <Chart name="Tokens that these had used" times={history.times} values={history.tokens} colour="--busy-bar" />
      </div>
    </>
  )
}

type ChartProps = { name: string; times: number[]; values: number[]; colour: string }

function Chart({ name, times, values, colour }: ChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const chart = useRef<uPlot>(null)
  useEffect(() => {
    const box = place.current
    if (box === null) return undefined
    const open = () => {
      chart.current?.destroy()
      chart.current = new uPlot(optionsOf(box, colour), [times, values], box)
    }
    open()
    const resized = new ResizeObserver(() => chart.current?.setSize({ width: box.clientWidth, height: chartHeight }))
    resized.observe(box)
    const dark = matchMedia('(prefers-color-scheme: dark)')
    dark.addEventListener('change', open)
    return () => {
      resized.disconnect()
      dark.removeEventListener('change', open)
      chart.current?.destroy()
    }
  }, [])
  useEffect(() => chart.current?.setData([times, values]), [times, values])
  const last = figure(values.at(-1) ?? 0)
  return (
    <figure class="stack tight">
      <figcaption>
        {name} <b>{last}</b>
      </figcaption>
      <div ref={place} class="chart" role="img" aria-label={`${name} over time, ${last} at last`} />
    </figure>
  )
}

const chartHeight = 170

function optionsOf(box: HTMLElement, line: string): uPlot.Options {
  const colour = (name: string) => {
    box.style.color = `var(${name})` // only so a variable of two themes becomes a colour
    return getComputedStyle(box).color
  }
  const axis = { stroke: colour('--quiet'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false } }
  const short = (value: number) => (value < 10_000 ? figure(value) : `${figure(Math.round(value / 1000))} k`)
  return {
    width: box.clientWidth,
    height: chartHeight,
    legend: { show: false },
    cursor: { show: false },
    scales: { y: { range: (_, __, most) => [0, Math.max(1, most)] } },
    axes: [
      { ...axis, space: 90, size: 24, values: '{HH}:{mm}:{ss}' },
      { ...axis, size: 60, values: (_, values) => values.map(short) },
    ],
    series: [{}, { stroke: colour(line), width: 2, points: { show: false } }],
  }
}
