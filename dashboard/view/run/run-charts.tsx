import { useEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import { figure } from '#domain/figure.ts'
import { plural } from '#domain/timeline/words.ts'
import type { Run } from '#client/wire.ts'
import { type History, historyOf } from '../../core/run-history.ts'
import { totalsOf } from '../../core/run-words.ts'
import { useRun } from './run-context.ts'

/** Of more operations the history is read only when somebody asks for it. */
const readUnasked = 2_000

/** Shows how many operations had ended over time, and their tokens. It is made of the operations, so that it is whole whenever the page was opened. */
export function RunCharts({ run }: { run: Run }) {
  const { total } = totalsOf(run.counts)
  const [isWanted, setWanted] = useState(total <= readUnasked)
  if (total === 0) return null
  return (
    <section class="box" aria-label="Over time">
      <h2>Over time</h2>
      {isWanted ? (
        <HistoryChart run={run} />
      ) : (
        <div>
          <button onClick={() => setWanted(true)}>Read the history of {plural(total, 'operation')}</button>
        </div>
      )}
    </section>
  )
}

function HistoryChart({ run }: { run: Run }) {
  const list = useRun().operations()
  const version = list.version.value
  const box = useRef<HTMLDivElement>(null)
  const chart = useRef<uPlot>(null)
  const history = historyOf(list.rows.values(), Date.parse(run.accepted_at))
  const [ended, tokens] = [history.ended.at(-1) ?? 0, history.tokens.at(-1) ?? 0]
  useEffect(() => {
    if (box.current === null) return
    const place = box.current
    const open = () => {
      chart.current?.destroy()
      chart.current = new uPlot(optionsOf(place), dataOf(history), place)
    }
    open()
    const resized = new ResizeObserver(() => chart.current?.setSize({ width: place.clientWidth, height: chartHeight }))
    resized.observe(place)
    const dark = matchMedia('(prefers-color-scheme: dark)')
    dark.addEventListener('change', open)
    return () => {
      resized.disconnect()
      dark.removeEventListener('change', open)
      chart.current?.destroy()
    }
  }, [])
  useEffect(() => chart.current?.setData(dataOf(history)), [version])
  return (
    <>
      <p class="legend">
        <span>
          <span class="dot" data-state="good" /> ended <b>{figure(ended)}</b> (left)
        </span>
        <span>
          <span class="dot" data-state="busy" /> their tokens <b>{figure(tokens)}</b> (right)
        </span>
        {!list.isWhole.value && <span class="quiet">{figure(list.rows.size)} operations read …</span>}
      </p>
      <div ref={box} class="chart" role="img" aria-label={`${ended} operations ended, with ${tokens} tokens`} />
    </>
  )
}

const chartHeight = 180

function dataOf({ times, ended, tokens }: History): uPlot.AlignedData {
  return [times, ended, tokens]
}

function optionsOf(place: HTMLElement): uPlot.Options {
  const style = getComputedStyle(place)
  const colour = (name: string) => style.getPropertyValue(name)
  const axis = { stroke: colour('--quiet'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false } }
  const short = (values: readonly number[]) =>
    values.map((value) => (value < 1e4 ? figure(value) : `${figure(value / 1e3)} k`))
  return {
    width: place.clientWidth,
    height: chartHeight,
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { time: true },
      ended: { range: (_, __, most) => [0, Math.max(1, most)] },
      tokens: { range: (_, __, most) => [0, Math.max(1, most)] },
    },
    axes: [
      { ...axis, values: '{HH}:{mm}:{ss}' },
      { ...axis, scale: 'ended', size: 60, values: (_, values) => short(values) },
      { ...axis, scale: 'tokens', side: 1, size: 60, grid: { show: false }, values: (_, values) => short(values) },
    ],
    series: [
      {},
      { scale: 'ended', stroke: colour('--good-bar'), width: 2, points: { show: false } },
      { scale: 'tokens', stroke: colour('--busy-bar'), width: 2, points: { show: false } },
    ],
  }
}
