import { parseArgs } from 'node:util'
import { measureCompile, shippedScripts } from './scripts/measure-compile.ts'
import { measurePeers } from './scripts/measure-peers.ts'
import { measureStarts } from './scripts/measure-starts.ts'
import { saveReport } from './reports/markdown-report.ts'
import { renderScripts } from './reports/scripts-report.ts'

/**
 * `node bench/scripts-bench.ts`: what running, starting and checking tool scripts costs, against a bare fork. Writes
 * results/scripts.md; with `--quick` it only prints.
 */
const { quick } = parseArgs({ options: { quick: { type: 'boolean', default: false } } }).values
const effort = quick ? { rounds: 3, oneByOne: 200, atOnce: 1_000 } : { rounds: 15, oneByOne: 2_000, atOnce: 10_000 }

const peers = []
for (const processes of [1, 2]) peers.push({ processes, ...(await measurePeers(processes, effort)) })
const scripts = await shippedScripts()
const text = renderScripts({
  rounds: effort.rounds,
  peers,
  starts: await measureStarts(scripts, effort.rounds),
  compile: await measureCompile(scripts, effort.rounds),
  scripts: scripts.length,
})
await saveReport('scripts', text, { quick })
