import type { AgentBundle } from '#domain/agent-bundle.ts'
import type { CodeNode } from '#domain/code-node.ts'
import { docLanguageOf } from '#languages/comments/doc-language.ts'
import { defaultRulesOf } from '#domain/path-rules.ts'
import { operationId } from '#domain/ids.ts'
import { modelKindOf } from '#domain/model-kind.ts'
import type { Run } from '#domain/run.ts'
import { unreachable } from '#domain/error.ts'
import type { RepositoryRules } from '#store/objects/repository-rules.ts'
import { docstringScopes } from '#languages/python/docstring-survey.ts'
import { sampleScopes } from './survey/sample-survey.ts'
import type { CommentSurvey } from './survey/survey-doc-comments.ts'
import type { Survey } from './survey/survey-repository.ts'
import type { TestSurvey } from './survey/survey-tests.ts'
import { type ProgramFacts, programLack } from './lacking-programs.ts'
import { lintWork, type LintDepth, type LintWork, type NodeWork, type WorkFinder } from './lint-work.ts'
import type { PinnedBundle } from './pin-bundles.ts'

/** Says where the bundles of a run have work, and what the workers need to know for it. */
export type PlannedWork = {
  of(pinned: PinnedBundle): WorkFinder
  rules: RepositoryRules | undefined
  notices: string[]
}

const notUtf8Work: NodeWork = { works: [], reason: 'its file is not UTF-8' }

export const always: WorkFinder = () => ({ works: ['agent'] })

/** The work of each bundle on `nodes`, by its `when`. Without a survey (no file that is linted) every node has some. Pure. */
export function findWork(nodes: readonly CodeNode[], bundles: readonly PinnedBundle[], surveys: Surveys): PlannedWork {
  const { survey, comments, programs, tested } = surveys
  const facts = { ...programs, runnerOf: tested?.runnerOf }
  const finders = new Map<PinnedBundle, WorkFinder>()
  const files = { ...survey?.rules.files }
  const notices: string[] = []
  for (const pinned of bundles) {
    const taken = nodes.filter((node) => takes(pinned.bundle, node))
    const found = workOf(pinned.bundle, taken, surveys)
    finders.set(pinned, found.find)
    notices.push(...(found.notices ?? []))
    for (const [path, ranges] of found.agentRanges ?? []) {
      const file = files[path]
      const { name } = pinned.bundle.file
      const own = ranges.map(({ nodeId, ...bytes }) => ({ operationId: operationId(nodeId, name), ...bytes }))
      if (file !== undefined) files[path] = { ...file, agentRanges: [...file.agentRanges, ...own] }
    }
  }
  const of = (pinned: PinnedBundle): WorkFinder => {
    const find = finders.get(pinned) ?? always
    return (node) => {
      if (survey?.notUtf8.has(node.path) === true) return notUtf8Work
      const found = find(node)
      const reason = found.works.length === 0 ? undefined : programLack(pinned.bundle.file, node, facts)
      return reason === undefined ? found : { works: [], reason }
    }
  }
  const rules = survey && { ...survey.rules, files }
  return { of, rules: comments === undefined ? rules : withCommentStyles(rules, comments.styles), notices }
}

export function takes({ file }: AgentBundle, node: CodeNode): boolean {
  return file.node_kinds.includes(node.kind) && file.languages.includes(node.language)
}

/** Holds what was found out of the repository before planning; undefined where no bundle of the run needs it. */
export type Surveys = {
  survey: Survey | undefined
  comments?: CommentSurvey | undefined
  tested?: TestSurvey | undefined
  programs?: Omit<ProgramFacts, 'runnerOf'> | undefined
  labels: Run['request']['labels']
}

type Found = { find: WorkFinder; agentRanges?: LintWork['agentRanges']; notices?: readonly string[] }

function workOf({ file }: AgentBundle, taken: readonly CodeNode[], surveys: Surveys): Found {
  const { survey, comments, tested, labels } = surveys
  switch (file.when) {
    case 'always':
      return { find: always }
    case 'untested':
      return { find: tested === undefined ? always : untestedWork(tested) }
    case 'lint_faults': {
      if (survey === undefined) return { find: always }
      const isMechanical = file.mechanical === 'lint_fixes'
      const linted = file.settings['scope']?.default === 'all' ? survey : withoutTestData(survey)
      const work = lintWork(taken, linted, { depth: lintDepth(file, labels), isMechanical })
      return { ...work, notices: [...leftNotice(file.name, work.left), ...offeredNotice(file.name, work.offered)] }
    }
    case 'no_docstring':
      return { find: docstringWork(file, survey, comments) }
    case 'no_samples':
      return { find: survey === undefined ? always : sampleWork(file, survey) }
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

/** Names the rules that the linter's own output calls fixable, since a user would compare the two. */
function leftNotice(name: string, { faults, files, withheld }: LintWork['left']): string[] {
  if (faults === 0) return []
  const found = `${counted(faults, 'lint fault')} in ${counted(files, 'file')}`
  const left = `${name}: ${found} without a safe fix left as ${faults === 1 ? 'it is' : 'they are'}`
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
  const found = `${counted(faults, 'unused import')} in ${counted(files, 'file')}`
  const why = `others may import what ${faults === 1 ? 'it binds' : 'they bind'} from a public module`
  return [`${name}: ${found} left: ${why}; once __all__ lists what a module offers, the rest may go`]
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

/** Names the rules with the most faults: `UP006 (12), UP045 (8)`. */
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

function docstringWork(
  { settings }: AgentBundle['file'],
  survey: Survey | undefined,
  comments: CommentSurvey | undefined,
): WorkFinder {
  const scope = docstringScopes.find((one) => one === settings['scope']?.default) ?? 'public'
  return ({ path, startByte, language }) => {
    const workUnless = (reason: string | undefined): NodeWork =>
      reason === undefined ? { works: ['agent'] } : { works: [], reason }
    if (language !== 'python') {
      return comments === undefined || docLanguageOf(language) === undefined
        ? workUnless('there is no form of doc comments for its language')
        : workUnless(comments.reasonToSkip(path, startByte, scope))
    }
    if (survey === undefined) return { works: ['agent'] }
    const { docstrings, rules, unlinted } = survey
    // The survey has rules for all files that it could read.
    if (!Object.hasOwn(rules.files, path)) return { works: [], reason: unlinted.get(path) ?? 'it is no Python file' }
    return workUnless(docstrings.reasonToSkip(path, startByte, scope))
  }
}

function sampleWork({ settings }: AgentBundle['file'], { samples }: Survey): WorkFinder {
  const scope = sampleScopes.find((one) => one === settings['scope']?.default) ?? 'auto'
  return (node) => {
    const reason = samples.reasonToSkip(node, scope)
    return reason === undefined ? { works: ['agent'] } : { works: [], reason }
  }
}

/** The rules with the styles of the files whose docstrings are comments. */
function withCommentStyles(rules: RepositoryRules | undefined, styles: CommentSurvey['styles']): RepositoryRules {
  const shared = [...(rules?.shared ?? [])]
  const files = { ...rules?.files }
  const places = new Map<string, number>()
  for (const [path, text] of styles) {
    const own = Object.hasOwn(files, path) ? files[path] : undefined
    const lint = (own && shared[own.rules]?.lint) ?? defaultRulesOf(path).lint
    const key = JSON.stringify([own?.rules, lint, text])
    const at = places.get(key) ?? shared.push({ lint, text }) - 1
    places.set(key, at)
    files[path] = { keptNames: [], agentRanges: [], ...own, rules: at }
  }
  return { v: 1, ...rules, shared, files }
}
