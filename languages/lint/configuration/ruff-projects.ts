import type { LintRules } from '#domain/path-rules.ts'
import { isStub } from '../../python/python-file.ts'
import type { PythonLinter } from '../python-linter.ts'
import { acceptedOptions } from './accepted-options.ts'
import { folderOf } from '#domain/repo-path.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { type ConfigTree, nameOf, nearest, shared, stringOf, stringsOf, type Table, tableAt } from './config-tree.ts'
import {
  blindRules,
  lostRulesOf,
  modulesOfSources,
  type ModuleTree,
  namesWithSection,
  silentByPath,
  type SilentRules,
  sortsImports,
  standardModules,
} from './path-bound-rules.ts'
import { requiredPython } from './python-target.ts'
import { requiredRuff, ruffChain, ruffConfig, type RuffConfig, ruffConfigIn } from './ruff-config.ts'
import { newestRuffMinor, pytestStyleOf, rulesBefore16, rulesNewerThan } from './ruff-version.ts'

export type OptionsCheck = Pick<PythonLinter, 'lint' | 'refusalOf'>

/** A configuration of Ruff, with options that the Ruff we run accepts. */
export type RuffProject = RuffConfig & {
  sources: readonly string[]
  sortsImports: boolean
  isPreview: boolean
  /** The selectors of per-file ignores that Ruff accepts. */
  ignorable: ReadonlySet<string>
  /** Holds, for each target version that Ruff accepts, the repository's modules that have the name of a standard module. */
  standard: ReadonlyMap<string | undefined, ReadonlySet<string>>
}

export type RuffProjects = {
  of(folder: string): RuffProject | undefined
  rulesIn(folder: string, project: RuffProject): (path: string) => LintRules
}

type Sources = { tree: ConfigTree; modules: ModuleTree; check: OptionsCheck; notice(words: string): void }

export async function readRuffProjects(sources: Sources): Promise<RuffProjects> {
  const { tree, modules } = sources
  const pathOf = nearest((folder) => ruffConfigIn(tree, folder))
  const projects = new Map<string | undefined, RuffProject>()
  for (const path of new Set(modules.folders.flatMap((folder) => pathOf(folder) ?? []))) {
    projects.set(path, await readProject(path, sources))
  }
  const of = (folder: string) => projects.get(pathOf(folder))
  return { of, rulesIn: rulesReader(of, modules) }
}

async function readProject(path: string, { tree, modules, check, notice }: Sources): Promise<RuffProject> {
  const chain = ruffChain(tree, path, notice)
  const config = ruffConfig(chain)
  const asked = withDefaults(config, tree)
  const { options, refused } = await acceptedOptions(asked, check.refusalOf)
  for (const { key, value, why } of refused) {
    notice(`${config.source}: ${value === undefined ? key : `${value} in ${key}`} is left out: ${why}`)
  }
  const lint = tableAt(options, 'lint') ?? {}
  const lost = lostRulesOf(lint)
  if (lost.length > 0)
    notice(`${config.source}: not checked, because the linter does not know a file's path: ${lost.join(', ')}`)
  const project = {
    ...config,
    options,
    sources: modulesOfSources(modules, chain),
    sortsImports: sortsImports(lint),
    isPreview: isPreviewOn(options),
    ignorable: new Set(stringsOf(tableAt(lint['per-file-ignores'])?.['*'])),
  }
  return { ...project, standard: await standardByTarget(project, modules, check) }
}

/** Adds what files of other tools say and all per-file ignores, for Ruff to check; an older Ruff gets its defaults. */
function withDefaults(config: RuffConfig, tree: ConfigTree): Record<string, unknown> {
  const own = tableAt(config.options['lint']) ?? {}
  const target = config.options['target-version'] ?? nearest((folder) => requiredPython(tree, folder))(config.folder)
  const minor = newestRuffMinor(tree, config.folder, requiredRuff(config.chain))
  const isOld = own['select'] === undefined && minor !== undefined && minor < 16
  const lint = isOld ? { ...own, select: rulesBefore16 } : own
  const isPreview = isPreviewOn(config.options)
  const newer = minor === undefined ? [] : rulesNewerThan(minor, lint, isPreview)
  const pytestStyle = minor === undefined ? undefined : pytestStyleOf(minor, lint, isPreview)
  return {
    ...config.options,
    ...(target !== undefined && { 'target-version': target }),
    lint: {
      ...lint,
      ...(pytestStyle && { 'flake8-pytest-style': pytestStyle }),
      ...(newer.length > 0 && { ignore: [...stringsOf(lint['ignore']), ...newer] }),
      ...(config.files.ignorable.length > 0 && { 'per-file-ignores': { '*': config.files.ignorable } }),
    },
  }
}

function isPreviewOn(options: Record<string, unknown>): boolean {
  return (tableAt(options['lint'])?.['preview'] ?? options['preview']) === true
}

async function standardByTarget(project: Omit<RuffProject, 'standard'>, modules: ModuleTree, check: OptionsCheck) {
  const standard = new Map<string | undefined, ReadonlySet<string>>()
  const names = project.sortsImports ? [...new Set([...project.sources, ...modules.packageNames])] : []
  for (const target of new Set([stringOf(project.options['target-version']), ...project.files.targets])) {
    const isTaken = target === undefined || (await check.refusalOf({ 'target-version': target })) === undefined
    if (isTaken) standard.set(target, await standardModules(names, target, check))
  }
  return standard
}

type Of = RuffProjects['of']

function rulesReader(of: Of, modules: ModuleTree): RuffProjects['rulesIn'] {
  const known = new Map<RuffProject, Map<string, LintRules>>()
  const share = shared<LintRules>()
  const isExcludedIn = excludedReader(of)
  return (folder, project) => {
    const ofProject = getOrMake(known, project, () => new Map())
    const root = project.sortsImports ? modules.packageOf(folder) : undefined
    const ownPackage = root === undefined ? undefined : nameOf(root)
    const silentIn = silentByPath(folder, modules, project.isPreview)
    const isExcluded = isExcludedIn(folder)
    return (path) => {
      const target = project.files.targetOf(path)
      const facts: Facts = {
        perFile: project.files.ignoredIn(path).filter((selector) => project.ignorable.has(selector)),
        target: target !== undefined && project.standard.has(target) ? target : undefined,
        package: ownPackage,
        silent: silentIn(path),
        // Ruff cannot know that a text is a stub, which has other rules.
        isExcluded: isStub(path) || isExcluded(path),
      }
      return getOrMake(ofProject, JSON.stringify(facts), () => share(rulesWith(facts, project)))
    }
  }
}

type Facts = {
  perFile: readonly string[]
  target: string | undefined
  package: string | undefined
  silent: SilentRules
  isExcluded: boolean
}

function rulesWith({ perFile, target, package: ownPackage, silent, isExcluded }: Facts, project: RuffProject) {
  const { 'per-file-ignores': _, ...lint } = tableAt(project.options['lint']) ?? {}
  const version = target ?? stringOf(project.options['target-version'])
  const isort = project.sortsImports ? isortWith(tableAt(lint['isort']), ownPackage, version, project) : undefined
  return {
    source: project.source,
    options: {
      ...project.options,
      ...(version !== undefined && { 'target-version': version }),
      lint: {
        ...lint,
        ...(isort && { isort }),
        // Unlike `ignored`, Ruff also knows names and old codes of rules.
        ...(perFile.length > 0 && { 'per-file-ignores': { '*': perFile } }),
      },
    },
    ignored: [...blindRules, ...perFile, ...silent.ignored],
    unfixable: [...project.unsafe, ...silent.unfixable],
    isExcluded,
  }
}

/** Adds the modules that Ruff would find in the repository's folders to `known-first-party`. */
function isortWith(
  isort: Table | undefined,
  ownPackage: string | undefined,
  target: string | undefined,
  project: RuffProject,
): Table {
  const standard = project.standard.get(target) ?? new Set()
  const named = new Set(namesWithSection(isort))
  const hasOwn = ownPackage !== undefined && isort?.['detect-same-package'] !== false
  const found = new Set([...project.sources, ...(hasOwn ? [ownPackage] : [])])
  const added = [...found].filter((name) => !standard.has(name) && !named.has(name)).toSorted()
  const own = stringsOf(isort?.['known-first-party'])
  return { ...isort, ...(own.length + added.length > 0 && { 'known-first-party': [...own, ...added] }) }
}

/** The configuration of a folder's parent decides whether the folder is excluded, so that none can exclude itself. */
function excludedReader(of: Of): (folder: string) => (path: string) => boolean {
  const known = new Map<string, boolean>()
  const isFolderOut = (folder: string): boolean => {
    if (folder === '') return false
    const above = folderOf(folder)
    return getOrMake(known, folder, () => isFolderOut(above) || (of(above)?.files.isExcluded(folder) ?? false))
  }
  return (folder) => {
    const files = of(folder)?.files
    if (files === undefined || isFolderOut(folder)) return () => true
    return (path) => files.isExcluded(path) || !files.isIncluded(path) || files.isNotLinted(path)
  }
}
