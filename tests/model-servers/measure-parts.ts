import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { benchPackages } from '../../bench/repositories/bench-packages.ts'
import { cacheFolder, unpackedPackage } from '../../bench/repositories/prepare-package.ts'
import { repository } from '../program.ts'
import { measureBare, type BareRates } from '../../bench/peers/harness-client.ts'
import {
  measureHarness,
  measureRun,
  maxTokens,
  requestLimitS,
  type HarnessReport,
  type ModelOrder,
  type RunFigures,
} from './measure-server.ts'
import { measureObjective, type ObjectiveFigures } from './measure-objective.ts'
import { measurePrefix, type PrefixFigures } from './measure-prefix.ts'
import { modelName } from './start-server.ts'

/** What was measured of one server; a part that is missing was not. */
export type ServerParts = {
  harness?: HarnessReport
  bare_required?: BareRates
  bare_auto?: BareRates
  docstring?: RunFigures
  run?: RunFigures
  prefix?: PrefixFigures
  objective?: ObjectiveFigures
  /** The day of the last measurement. */
  measured?: string
}
export type PartName = Exclude<keyof ServerParts, 'measured'>
export type Measures = {
  requests: number
  limit: number
  docstrings: number
  prompts: number
  objectives: number
  shapes: string | undefined
  agents: string
}

/** Its functions without a docstring are the same for everybody, and have never had one. */
const undocumented = 'boltons'

/** The parts by the names that `--parts` takes, in the order in which they are measured. */
export const parts: { [Name in PartName]-?: (order: ModelOrder, how: Measures) => Promise<ServerParts[Name]> } = {
  harness: (order, { requests, shapes }) => measureHarness(order, { requests, shapes }),
  bare_required: (order, how) => bare('required', order, how),
  bare_auto: (order, how) => bare('auto', order, how),
  docstring: (order, { docstrings }) => docstringsInOneTurn(order, docstrings),
  run: (order, { agents, limit }) =>
    measureRun(order, { source: join(repository, 'examples/inventory'), agents, limit }),
  prefix: (order, { prompts }) => measurePrefix(order, prompts),
  objective: (order, { objectives }) => measureObjective(order, objectives),
}

function bare(choice: 'required' | 'auto', { url, slots, signal }: ModelOrder, { requests }: Measures) {
  return measureBare({
    url,
    model: modelName,
    choice,
    requests,
    concurrency: slots,
    maxTokens,
    timeoutMs: requestLimitS * 1000,
    signal,
  })
}

/** `docstring` with `turns: one` over the first functions and classes of a package that have no docstring. */
async function docstringsInOneTurn(order: ModelOrder, limit: number): Promise<RunFigures> {
  const one = benchPackages.find(({ name }) => name === undocumented)
  if (one === undefined) throw new Error(`bench/repositories has no ${undocumented}`)
  const { tree } = await unpackedPackage(one, cacheFolder())
  const env = { REMORA_AGENTS_MAPPING: JSON.stringify({ docstring: { turns: 'one' } }) }
  return measureRun(order, { source: tree, agents: 'docstring', limit, env })
}

/** What was measured before, by the server's name: a measurement that was cut off goes on where it stopped. */
export async function openFigures(file: string) {
  const text = await readFile(file, 'utf8').catch(() => '{}')
  const figures: Record<string, ServerParts> = JSON.parse(text)
  return {
    of: (server: string): ServerParts => figures[server] ?? {},
    async keep(server: string, measured: ServerParts) {
      figures[server] = { ...figures[server], ...measured }
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, JSON.stringify(figures, null, 2))
    },
  }
}
