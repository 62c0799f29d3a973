import type { CompileFigures } from '../scripts/measure-compile.ts'
import type { PeerFigures } from '../scripts/measure-peers.ts'
import type { StartFigures } from '../scripts/measure-starts.ts'
import { type Column, median, sectionHead, spread, table } from './markdown-report.ts'

export type ScriptFigures = {
  rounds: number
  peers: readonly { processes: number; bare: PeerFigures; pool: PeerFigures }[]
  starts: StartFigures
  compile: CompileFigures
  scripts: number
}

const measures = [
  ['one line, one after the other, µs', 'line'],
  ['one call of the host, one after the other, µs', 'external'],
  ['one line, 64 at once, scripts/s', 'lineRate'],
  ['one call of the host, 64 at once, scripts/s', 'externalRate'],
] as const

type PeerRow = { processes: number; what: string; bare: readonly number[]; pool: readonly number[] }

const peerColumns: readonly Column<PeerRow>[] = [
  ['processes', ({ processes }) => processes],
  ['what', ({ what }) => what],
  ['bare fork', spread(({ bare }) => bare, 0)],
  ['pool', spread(({ pool }) => pool, 0)],
  ['pool : bare', ({ bare, pool }) => (median(pool) / median(bare)).toFixed(2)],
]

/** results/scripts.md */
export function renderScripts({ rounds, peers, starts, compile, scripts }: ScriptFigures): string {
  const peerRows = peers.flatMap(({ processes, bare, pool }) =>
    measures.map(([what, key]): PeerRow => ({ processes, what, bare: bare[key], pool: pool[key] })),
  )
  return `${sectionHead('Tool scripts', { command: 'node bench/scripts-bench.ts' })}
The whole pool, with validation, limits, a journal and events, against a bare fork that runs the same scripts in Monty with none of that.
Medians (least–most) of ${rounds} rounds in turn; for times the smaller ratio is the better one, for rates the larger.

${table(peerColumns, peerRows)}

A pool's first script takes ${starts.cold.toFixed(1)} ms (its process starts), the first run of another one ${starts.first.toFixed(2)} ms; a script of ${starts.calls} calls takes ${starts.answered.toFixed(1)} ms, over its
journal ${starts.replayed.toFixed(1)}. Of the ${scripts} shipped scripts each takes ${compile.compile.toFixed(0)} µs to compile; ${compile.typeChecked.toFixed(0)} a second are checked with types.
`
}
