import type { AgentBundle } from '#domain/agent-bundle.ts'
import { modelKindOf } from '#domain/model-kind.ts'
import { isGo } from '#domain/path-rules.ts'
import type { Run } from '#domain/run.ts'
import { always, type SurveyRule, type WorkFinder } from '#stages/plan/survey-rule.ts'
import type { Survey } from '#stages/plan/survey/survey-repository.ts'
import { lintWork, type LintDepth, type LintWork } from './survey/lint-work.ts'

/** There is work where the repository's own rules report faults; without a survey, on every node. */
export const lintFaults: SurveyRule = {
  surveys: ['faults', 'format'],
  open: async ({ survey, labels, programs }) => {
    const hasGofmt = programs?.programs?.names.includes('gofmt') !== false
    return (file, taken) => {
      if (survey === undefined) return { find: always }
      const isMechanical = file.mechanical === 'lint_fixes'
      const linted = file.settings['scope']?.default === 'all' ? survey : withoutTestData(survey)
      const work = lintWork(taken, linted, { depth: lintDepth(file, labels), isMechanical })
      const find: WorkFinder = (node) => {
        const nodeWork = work.find(node)
        const isLacking = nodeWork.works.length > 0 && isGo(node.path) && !hasGofmt
        return isLacking ? { works: [], reason: 'no worker has gofmt' } : nodeWork
      }
      const notices = [...leftNotice(file.name, work.left), ...offeredNotice(file.name, work.offered)]
      return { find, agentRanges: work.agentRanges, notices }
    }
  },
}

function withoutTestData({ faults, unlinted, isTestData }: Survey): Pick<Survey, 'faults' | 'unlinted'> {
  const reason = 'its file is test data (scope: all includes it)'
  const data = [...faults.keys()].filter(isTestData)
  return {
    faults: new Map([...faults].filter(([path]) => !isTestData(path))),
    unlinted: new Map([...unlinted, ...data.map((path) => [path, reason] as const)]),
  }
}

function lintDepth({ settings }: AgentBundle['file'], labels: Run['request']['labels']): LintDepth {
  const depth = settings['depth']?.default
  if (depth === 'safe' || depth === 'model') return depth
  return modelKindOf(labels) === 'rehearsal' ? 'safe' : 'model'
}

const namedRules = 6

/** Names the rules that the linter's own output calls fixable, since a user would compare the two. */
function leftNotice(name: string, { faults, files, withheld }: LintWork['left']): string[] {
  if (faults === 0) return []
  const faultsInFiles = `${counted(faults, 'lint fault')} in ${counted(files, 'file')}`
  const left = `${name}: ${faultsInFiles} without a safe fix left as ${faults === 1 ? 'it is' : 'they are'}`
  const { ours, unsafe } = withheld
  const why = [
    ...(ours.size === 0
      ? []
      : [`the linter has fixes of ${rulesText(ours)}, which Remora does not make without a person`]),
    ...(unsafe.size === 0 ? [] : [`its fixes of ${rulesText(unsafe)} count as unsafe in their files`]),
  ]
  return [[`${left}: no model is asked (lint.depth: safe)`, ...why].join('; ')]
}

function offeredNotice(name: string, { faults, files }: LintWork['offered']): string[] {
  if (faults === 0) return []
  const imports = `${counted(faults, 'unused import')} in ${counted(files, 'file')}`
  const why = `others may import what ${faults === 1 ? 'it binds' : 'they bind'} from a public module`
  return [`${name}: ${imports} left: ${why}; once __all__ lists what a module offers, the rest may go`]
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

function rulesText(counts: ReadonlyMap<string, number>): string {
  const sorted = [...counts].toSorted(([one, many], [other, more]) => more - many || (one < other ? -1 : 1))
  const named = sorted.slice(0, namedRules).map(([code, count]) => `${code} (${count})`)
  return `${named.join(', ')}${sorted.length > namedRules ? ` and ${sorted.length - namedRules} more` : ''}`
}
