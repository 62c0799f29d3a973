import { defaultLintRules, type LintRules } from '#domain/path-rules.ts'
import { isStub } from '../../python/python-file.ts'
import type { PythonLinter } from '../python-linter.ts'
import { acceptedOptions } from './accepted-options.ts'
import { folderOf } from '#domain/repo-path.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { type ConfigTree, nearest, shared } from './config-tree.ts'
import { type Flake8Config, flake8In, flake8Lacks, isInPreview, pycodestyleIn } from './flake8-config.ts'
import { type ModuleTree, silentByPath, type SilentRules } from './path-bound-rules.ts'
import { newerBuiltins, requiredPythonOfProject } from './python-target.ts'

/** A configuration of flake8 or pycodestyle, with options that the Ruff we run accepts. */
export type Flake8Project = Flake8Config & Pick<LintRules, 'options' | 'previewOptions'>

export type Flake8Projects = {
  /** The project of a folder; any configuration of flake8 above it counts before one of pycodestyle. */
  of(folder: string): Flake8Project | undefined
  /** The rules of a file in a folder of the project; without a project, the default rules. */
  rulesIn(folder: string, project: Flake8Project | undefined): (path: string) => LintRules
}

type Sources = {
  tree: ConfigTree
  modules: ModuleTree
  check: Pick<PythonLinter, 'refusalOf'>
  notice(words: string): void
}

/** `folders` are the folders of Python files without a configuration of Ruff. */
export async function readFlake8Projects(folders: readonly string[], sources: Sources): Promise<Flake8Projects> {
  const { tree, modules } = sources
  const flake8 = nearest((folder) => flake8In(tree, folder))
  const pycodestyle = nearest((folder) => pycodestyleIn(tree, folder))
  const configOf = (folder: string) => flake8(folder) ?? pycodestyle(folder)
  const projects = new Map<Flake8Config | undefined, Flake8Project>()
  for (const config of new Set(folders.flatMap((folder) => configOf(folder) ?? []))) {
    projects.set(config, await checkedProject(config, sources))
  }
  const targetOf = nearest((folder) => requiredPythonOfProject(tree, folder))
  return {
    of: (folder) => projects.get(configOf(folder)),
    rulesIn: rulesReader(modules, targetOf),
  }
}

type Facts = {
  target: string | undefined
  off: readonly string[]
  silent: SilentRules
  isExcluded: boolean
}

function rulesReader(modules: ModuleTree, targetOf: (folder: string) => string | undefined): Flake8Projects['rulesIn'] {
  const known = new Map<Flake8Project | undefined, Map<string, LintRules>>()
  const share = shared<LintRules>()
  return (folder, project) => {
    const ofProject = getOrMake(known, project, () => new Map())
    const target = targetOf(folder)
    const silentIn = silentByPath(folder, modules, false)
    const isFolderOut = project !== undefined && isExcluded(folder, project)
    const isOut = (path: string) =>
      isFolderOut || (project !== undefined && (!project.isIncluded(path) || project.isExcluded(path)))
    return (path) => {
      const facts: Facts = {
        target,
        off: project?.offIn(path) ?? [],
        silent: silentIn(path),
        // Ruff cannot know that a text is a stub, which has other rules.
        isExcluded: isStub(path) || isOut(path),
      }
      return getOrMake(ofProject, JSON.stringify(facts), () => share(rulesWith(facts, project)))
    }
  }
}

function rulesWith({ target, off, silent, isExcluded: isOut }: Facts, project: Flake8Project | undefined): LintRules {
  const { source, options, previewOptions } = project ?? withoutConfiguration
  const onTarget = target === undefined ? {} : { 'target-version': target }
  return {
    source,
    options: { ...onTarget, ...options },
    ...(previewOptions && { previewOptions: { ...onTarget, ...previewOptions } }),
    ignored: [...off, ...silent.ignored],
    unfixable: [...silent.unfixable],
    isExcluded: isOut,
  }
}

const withoutConfiguration: Pick<LintRules, 'source' | 'options' | 'previewOptions'> = {
  source: defaultLintRules.source,
  options: { builtins: newerBuiltins, ...defaultLintRules.options },
}

async function checkedProject(config: Flake8Config, { check, notice }: Sources): Promise<Flake8Project> {
  const { select, ignore } = config.rules
  const stable = select.filter((code) => !isInPreview(code))
  const asked = { ...config.options, lint: { ...config.lint, select: stable, ignore } }
  const { options, refused } = await acceptedOptions(asked, check.refusalOf)
  // An ignored rule that Ruff does not know is no loss.
  const missed = refused.filter(({ key }) => key !== 'lint.ignore')
  for (const { key, value, why } of missed) notice(`${config.source}: ${value ?? key} is left out: ${why}`)
  for (const words of flake8Lacks(config)) notice(words)
  return { ...config, options, ...inPreview(config) }
}

/** Preview changes other rules, so a separate pass checks only those that exist in preview alone. */
function inPreview({ options, rules }: Flake8Config): Pick<LintRules, 'previewOptions'> {
  const select = rules.select.filter(isInPreview)
  return select.length === 0 ? {} : { previewOptions: { ...options, preview: true, lint: { select } } }
}

/** Is true when the folder, or a parent of it below the project's own folder, is excluded. */
function isExcluded(folder: string, project: Flake8Project): boolean {
  for (let inner = folder; inner !== project.folder && inner !== ''; inner = folderOf(inner)) {
    if (project.isExcluded(inner)) return true
  }
  return false
}
