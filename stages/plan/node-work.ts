import type { AgentBundle, BundleFile } from '#domain/agent-bundle.ts'
import type { CodeNode } from '#domain/code-node.ts'
import { defaultRulesOf } from '#domain/path-rules.ts'
import { operationId } from '#domain/ids.ts'
import type { RepositoryRules } from '#store/objects/repository-rules.ts'
import { untested } from '#agents/test/host/survey.ts'
import { lintFaults } from '#agents/lint/host/survey.ts'
import { noDocstring } from '#agents/docstring/host/survey.ts'
import { noSamples } from '#agents/sample_data/host/survey.ts'
import { programLack } from './lacking-programs.ts'
import { always, type FoundWork, type NodeWork, type SurveyRule, type Surveys, type WorkFinder } from './survey-rule.ts'
import type { PinnedBundle } from './pin-bundles.ts'

export const surveyRules: Readonly<Record<BundleFile['when'], SurveyRule>> = {
  // Its agents may change anything, so what others may import of a module must be known, which the linter's faults tell.
  always: { surveys: ['faults'], open: async () => () => ({ find: always }) },
  lint_faults: lintFaults,
  no_docstring: noDocstring,
  no_samples: noSamples,
  untested,
}

/** Says where the bundles of a run have work, and what the workers need to know for it. */
export type PlannedWork = {
  of(pinned: PinnedBundle): WorkFinder
  rules: RepositoryRules | undefined
  notices: string[]
}

const notUtf8Work: NodeWork = { works: [], reason: 'its file is not UTF-8' }

/** Finds the work of each bundle on `nodes`, by the rule of its `when`. */
export async function findWork(
  nodes: readonly CodeNode[],
  bundles: readonly PinnedBundle[],
  surveys: Surveys,
): Promise<PlannedWork> {
  const { survey, programs } = surveys
  const works = new Map<PinnedBundle, FoundWork>()
  for (const [when, own] of Map.groupBy(bundles, ({ bundle }) => bundle.file.when)) {
    const workOf = await surveyRules[when].open(surveys, (node) => own.some(({ bundle }) => takes(bundle, node)))
    for (const pinned of own) {
      const taken = nodes.filter((node) => takes(pinned.bundle, node))
      works.set(pinned, workOf(pinned.bundle.file, taken))
    }
  }
  const all = [...works.values()]
  const facts = { ...programs, runnerOf: all.find(({ runnerOf }) => runnerOf !== undefined)?.runnerOf }
  const of = (pinned: PinnedBundle): WorkFinder => {
    const find = works.get(pinned)?.find ?? always
    return (node) => {
      if (survey?.notUtf8.has(node.path) === true) return notUtf8Work
      const work = find(node)
      const reason = work.works.length === 0 ? undefined : programLack(pinned.bundle.file, node, facts)
      return reason === undefined ? work : { works: [], reason }
    }
  }
  const styles = all.find((work) => work.styles !== undefined)?.styles
  const rules = survey && { ...survey.rules, files: withAgentRanges(survey.rules.files, works) }
  return {
    of,
    rules: styles === undefined ? rules : withCommentStyles(rules, styles),
    notices: all.flatMap(({ notices = [] }) => notices),
  }
}

function withAgentRanges(
  files: RepositoryRules['files'],
  works: ReadonlyMap<PinnedBundle, FoundWork>,
): RepositoryRules['files'] {
  const ranged = { ...files }
  for (const [{ bundle }, { agentRanges = [] }] of works) {
    for (const [path, ranges] of agentRanges) {
      const file = ranged[path]
      const { name } = bundle.file
      const own = ranges.map(({ nodeId, ...bytes }) => ({ operationId: operationId(nodeId, name), ...bytes }))
      if (file !== undefined) ranged[path] = { ...file, agentRanges: [...file.agentRanges, ...own] }
    }
  }
  return ranged
}

export function takes({ file }: AgentBundle, node: CodeNode): boolean {
  return file.node_kinds.includes(node.kind) && file.languages.includes(node.language)
}

/** Adds to the rules the styles of the files whose docstrings are comments. */
function withCommentStyles(
  rules: RepositoryRules | undefined,
  styles: NonNullable<FoundWork['styles']>,
): RepositoryRules {
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
