import { commentsThatMayGo, triedAsConfigured, type CandidateRule } from './candidate-rules.ts'
import type { RuleTrial } from './fix-tree.ts'
import type { CorpusFigures } from './measure-corpus.ts'
import type { RuleFigures } from './render-safe-rules.ts'
import type { SecondLook } from './second-look.ts'

/** What both looks at one corpus found. */
export type Looks = { first: CorpusFigures; second: SecondLook }

/** Per rule, what was found in all corpora. */
export function joinLooks(candidates: readonly CandidateRule[], measured: readonly Looks[]): RuleFigures[] {
  return candidates.map((rule) => {
    const { code } = rule
    const trials = new Map<string, RuleTrial>()
    const tests: string[] = []
    const testsOfSources: string[] = []
    for (const { first, second } of measured) {
      const trial = trialOf(code, { first, second })
      if (trial !== undefined && trial.fixes > 0) trials.set(first.name, trial)
      const named = (ids: readonly string[] = []) => ids.map((id) => `${first.name}: ${id}`)
      const byRemover = named(second.removers[code]?.tests)
      tests.push(...named(first.culprits[code]), ...byRemover)
      testsOfSources.push(...named(second.outsideOfTests[code]), ...byRemover)
    }
    return { ...rule, trials, tests, testsOfSources }
  })
}

/** Without the comments that the rule is there to remove. */
function trialOf(code: string, { first, second }: Looks): RuleTrial | undefined {
  const trial = first.trials[code]
  const remover = second.removers[code]
  if (triedAsConfigured.has(code))
    return remover && { fixes: remover.fixes, lost: remover.otherComments, moved: [], newFaults: [] }
  const purpose = commentsThatMayGo[code]
  if (trial === undefined || purpose === undefined) return trial
  return { ...trial, lost: trial.lost.filter((text) => !purpose.test(text)) }
}
