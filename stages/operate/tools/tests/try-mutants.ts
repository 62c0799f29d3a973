import { mapBounded } from '#platform/map-bounded.ts'
import type { Mutant } from '../../evidence/mutants.ts'
import type { SyntaxChecker } from '../../evidence/syntax-evidence.ts'
import type { ProgramOptions } from '../programs/attempt-programs.ts'
import type { TestRun } from '../programs/run-tests.ts'
import type { TargetNode } from '../target-node.ts'

export type TriedMutants = {
  mutants: (Mutant & { isKilled: boolean })[]
  /** In words: those with which the run ended without a report, which proves nothing, and how that was. */
  unjudged: string[]
  mutantsMs: number
}

type Trying = {
  target: Pick<TargetNode, 'node' | 'locate'>
  syntax: Pick<SyntaxChecker, 'mutants'>
  most: number
  slowestMs: number
  runOnce(options: ProgramOptions): Promise<TestRun>
  /** The tests that the file had before: what these notice says nothing of the new ones. */
  others: ReadonlySet<string>
}

/** A mutant that makes the tests hang is stopped after this many times what they take without it. */
const mutantTimes = 10
const leastMutantMs = 5_000
/** Beside the other attempts of this worker, which wait for the same places in the sandbox. */
const mutantsAtOnce = 2

export async function tryMutants({ target, syntax, most, slowestMs, runOnce, others }: Trying): Promise<TriedMutants> {
  const { path, language } = target.node
  const { source, start, end } = await target.locate()
  const mutants = await syntax.mutants({ language, text: source }, { start, end, most })
  const wallMs = Math.max(leastMutantMs, slowestMs * mutantTimes)
  const tried = await mapBounded(mutants, mutantsAtOnce, async (mutant) => {
    const text = `${source.slice(0, mutant.start)}${mutant.text}${source.slice(mutant.end)}`
    const once = () => runOnce({ wallMs, instead: new Map([[path, text]]) })
    const first = await once()
    // The first time it may have been the machine.
    const ran = isExhausted(first) ? await once() : first
    const durationMs = first.result.durationMs + (ran === first ? 0 : ran.result.durationMs)
    return { mutant, ran, durationMs }
  })
  return {
    mutantsMs: Math.round(tried.reduce((all, { durationMs }) => all + durationMs, 0)),
    mutants: tried.flatMap(({ mutant, ran }) => {
      const isKilled = isNoticed(ran, others)
      return isKilled === undefined ? [] : { ...mutant, isKilled }
    }),
    unjudged: tried
      .filter(({ ran }) => isNoticed(ran, others) === undefined)
      .map(({ mutant, ran }) => `${mutantText(mutant)} (${endingText(ran)})`),
  }
}

function isExhausted({ result: { ending } }: TestRun): boolean {
  return ending.kind === 'stopped' && (ending.reason === 'time' || ending.reason === 'memory')
}

function isNoticed(ran: TestRun, others: ReadonlySet<string>): boolean | undefined {
  if (isExhausted(ran)) return true
  if (ran.cases === undefined || ran.result.ending.kind === 'stopped') return undefined
  return ran.cases.some(({ name, outcome }) => !others.has(name) && (outcome === 'failed' || outcome === 'error'))
}

export function survivorsOf({ mutants }: Pick<TriedMutants, 'mutants'>): string[] {
  return mutants.filter(({ isKilled }) => !isKilled).map(mutantText)
}

function mutantText({ line, what }: Mutant): string {
  return `line ${line}: ${what}`
}

export function endingText({ result: { ending } }: TestRun): string {
  return ending.kind === 'stopped' ? `stopped by its limit of ${ending.reason}` : `exit code ${ending.code}`
}
