import type { AgentBundle } from '#domain/agent-bundle.ts'
import type { CodeNode } from '#domain/code-node.ts'
import { operationId } from '#domain/ids.ts'
import { modelKindOf } from '#domain/model-kind.ts'
import type { Run } from '#domain/run.ts'
import { unreachable } from '#domain/error.ts'
import type { RepositoryRules } from '#objects/repository-rules.ts'
import { docstringScopes } from '#python/docstring-survey.ts'
import type { Survey } from '../survey/survey-repository.ts'
import type { TestSurvey } from '../survey/survey-tests.ts'
import { lintWork, type LintDepth, type LintWork, type NodeWork, type WorkFinder } from './lint-work.ts'
import type { PinnedBundle } from '../pin-bundles.ts'

/** Where the bundles of a run have work, and what the workers need to know for it. */
export type PlannedWork = {
  of(pinned: PinnedBundle): WorkFinder
  rules: RepositoryRules | undefined
  notices: string[]
}

const notUtf8Work: NodeWork = { works: [], reason: 'its file is not UTF-8' }

export const always: WorkFinder = () => ({ works: ['agent'] })

/** The work of each bundle on `nodes`, by its `when`. Without a survey (no Python file) every node has some. Pure. */
export function findWork(
  nodes: readonly CodeNode[],
  bundles: readonly PinnedBundle[],
  { survey, tested, labels }: Surveys & { survey: Survey | undefined },
): PlannedWork {
  const finders = new Map<PinnedBundle, WorkFinder>()
  const files = { ...survey?.rules.files }
  const notices: string[] = []
  for (const pinned of bundles) {
    const taken = nodes.filter((node) => takes(pinned.bundle, node))
    const found = foundWork(pinned.bundle, taken, { survey, tested, labels })
    finders.set(pinned, found.find)
    if (found.notice !== undefined) notices.push(found.notice)
    for (const [path, ranges] of found.agentRanges ?? []) {
      const file = files[path]
      const { name } = pinned.bundle.file
      const own = ranges.map(({ nodeId, ...bytes }) => ({ operationId: operationId(nodeId, name), ...bytes }))
      if (file !== undefined) files[path] = { ...file, agentRanges: [...file.agentRanges, ...own] }
    }
  }
  const of = (pinned: PinnedBundle): WorkFinder => {
    const find = finders.get(pinned) ?? always
    return (node) => (survey?.notUtf8.has(node.path) === true ? notUtf8Work : find(node))
  }
  return { of, rules: survey && { ...survey.rules, files }, notices }
}

export function takes({ file }: AgentBundle, node: CodeNode): boolean {
  return file.node_kinds.includes(node.kind) && file.languages.includes(node.language)
}

type Surveys = { tested?: TestSurvey | undefined; labels: Run['request']['labels'] }

function foundWork(
  bundle: AgentBundle,
  taken: readonly CodeNode[],
  surveys: Surveys & { survey: Survey | undefined },
): Found {
  const { survey, tested } = surveys
  if (bundle.file.when === 'untested') return { find: tested === undefined ? always : untestedWork(tested) }
  return survey === undefined ? { find: always } : workOf(bundle, taken, { ...surveys, survey })
}

type Found = { find: WorkFinder; agentRanges?: LintWork['agentRanges']; notice?: string | undefined }

function workOf(
  { file }: AgentBundle,
  taken: readonly CodeNode[],
  { survey, labels }: Surveys & { survey: Survey },
): Found {
  switch (file.when) {
    case 'always':
    case 'untested':
      return { find: always }
    case 'lint_faults': {
      const isMechanical = file.mechanical === 'lint_fixes'
      const linted = file.settings['scope']?.default === 'all' ? survey : withoutTestData(survey)
      const work = lintWork(taken, linted, { depth: lintDepth(file, labels), isMechanical })
      return { ...work, notice: leftNotice(file.name, work.left) }
    }
    case 'no_docstring':
      return { find: docstringWork(file, survey) }
    default:
      return unreachable(file.when)
  }
}

function withoutTestData({ faults, unlinted, isTestData }: Survey): Pick<Survey, 'faults' | 'unlinted'> {
  const reason = 'its file is test data (scope: all includes it)'
  const data = [...faults.keys()].filter(isTestData)
  return {
    faults: new Map([...faults].filter(([path]) => !isTestData(path))),
    unlinted: new Map([...unlinted, ...data.map((path) => [path, reason] as const)]),
  }
}

/** The bundle's setting; `auto` asks a model where there is a real one. */
function lintDepth({ settings }: AgentBundle['file'], labels: Run['request']['labels']): LintDepth {
  const depth = settings['depth']?.default
  if (depth === 'safe' || depth === 'model') return depth
  return modelKindOf(labels) === 'rehearsal' ? 'safe' : 'model'
}

/** So many rules are named. */
const namedRules = 6

/** With the rules that Ruff's own output calls fixable, since a user would compare the two. */
function leftNotice(name: string, { faults, files, withheld }: LintWork['left']): string | undefined {
  if (faults === 0) return undefined
  const found = `${faults} lint ${faults === 1 ? 'fault' : 'faults'} in ${files} ${files === 1 ? 'file' : 'files'}`
  const left = `${name}: ${found} without a safe fix left as ${faults === 1 ? 'it is' : 'they are'}`
  const { ours, unsafe } = withheld
  const why = [
    ...(ours.size === 0 ? [] : [`Ruff has fixes of ${rulesText(ours)}, which Remora does not make without a person`]),
    ...(unsafe.size === 0 ? [] : [`its fixes of ${rulesText(unsafe)} count as unsafe in their files`]),
  ]
  return [`${left}: no model is asked (lint.depth: safe)`, ...why].join('; ')
}

/** `UP006 (12), UP045 (8)`: those with the most faults. */
function rulesText(counts: ReadonlyMap<string, number>): string {
  const sorted = [...counts].toSorted(([one, many], [other, more]) => more - many || (one < other ? -1 : 1))
  const named = sorted.slice(0, namedRules).map(([code, count]) => `${code} (${count})`)
  return `${named.join(', ')}${sorted.length > namedRules ? ` and ${sorted.length - namedRules} more` : ''}`
}

function untestedWork({ reasonToSkip }: TestSurvey): WorkFinder {
  return (node) => {
    const reason = reasonToSkip(node)
    return reason === undefined ? { works: ['agent'] } : { works: [], reason }
  }
}

function docstringWork({ settings }: AgentBundle['file'], { docstrings, rules, unlinted }: Survey): WorkFinder {
  const scope = docstringScopes.find((one) => one === settings['scope']?.default) ?? 'public'
  return ({ path, startByte }) => {
    // The survey has rules for all files that it could read.
    if (!Object.hasOwn(rules.files, path)) return { works: [], reason: unlinted.get(path) ?? 'it is no Python file' }
    const reason = docstrings.reasonToSkip(path, startByte, scope)
    return reason === undefined ? { works: ['agent'] } : { works: [], reason }
  }
}
