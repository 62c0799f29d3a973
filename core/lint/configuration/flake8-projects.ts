import { defaultLintRules, type LintRules } from '#domain/path-rules.ts'
import type { PythonLinter } from '../python-linter.ts'
import { acceptedOptions } from './accepted-options.ts'
import { type ConfigTree, folderOf, nearest, stringsOf, tableAt } from './config-tree.ts'
import type { ModuleTree } from './first-party.ts'
import { type Flake8Config, flake8In, flake8Lacks, pycodestyleIn } from './flake8-config.ts'
import { silentByPath } from './path-bound-rules.ts'
import { newerBuiltins, requiredPythonOfProject } from './python-target.ts'

/** A configuration of flake8 or pycodestyle, in options that Ruff takes. */
export type Flake8Project = Flake8Config & { accepted: Record<string, unknown> }

export type Flake8Projects = {
  /** The project of a folder; flake8 counts before pycodestyle, wherever they stand. */
  of(folder: string): Flake8Project | undefined
  /** Undefined: the rules where nothing is configured. */
  rulesFor(path: string, project: Flake8Project | undefined): LintRules
}

type Sources = {
  tree: ConfigTree
  modules: ModuleTree
  check: Pick<PythonLinter, 'refusalOf'>
  notice(words: string): void
}

export async function readFlake8Projects(sources: Sources): Promise<Flake8Projects> {
  const { tree, modules } = sources
  const folders = [...new Set(tree.paths.map(folderOf))]
  const flake8 = await projectsIn(folders, flake8In, sources)
  const pycodestyle = await projectsIn(folders, pycodestyleIn, sources)
  const targetOf = nearest((folder) => requiredPythonOfProject(tree, folder))
  return {
    of: (folder) => flake8(folder) ?? pycodestyle(folder),
    rulesFor: (path, project) => {
      const target = targetOf(folderOf(path))
      const silent = silentByPath(path, modules, false)
      const rules = project === undefined ? defaultRules() : rulesOf(path, project)
      return {
        ...rules,
        options: { ...(target !== undefined && { 'target-version': target }), ...rules.options },
        ignored: [...rules.ignored, ...silent.ignored],
        unfixable: [...silent.unfixable],
      }
    },
  }
}

async function projectsIn(
  folders: readonly string[],
  configIn: (tree: ConfigTree, folder: string) => Flake8Config | undefined,
  { tree, check, notice }: Sources,
): Promise<(folder: string) => Flake8Project | undefined> {
  const projects = new Map<string, Flake8Project>()
  for (const folder of folders) {
    const config = configIn(tree, folder)
    if (config === undefined) continue
    const { select, ignore } = config.rules
    const asked = { ...config.options, lint: { ...config.lint, select, ignore } }
    const { options, refused } = await acceptedOptions(asked, check.refusalOf)
    // What Ruff does not know is not missed where it was to be off anyway.
    const missed = refused.filter(({ key }) => key !== 'lint.ignore')
    for (const { key, value, why } of missed) notice(`${config.source}: ${value ?? key} is left out: ${why}`)
    for (const words of flake8Lacks(config)) notice(words)
    projects.set(folder, { ...config, accepted: options })
  }
  return nearest((folder) => projects.get(folder))
}

function defaultRules(): LintRules {
  return { ...defaultLintRules, options: { builtins: newerBuiltins, ...defaultLintRules.options } }
}

function rulesOf(path: string, project: Flake8Project): LintRules {
  const own = project.rulesOf(path)
  const on = new Set(own.select)
  const off = stringsOf(tableAt(project.accepted['lint'])?.['ignore'])
  const codes = project.rules.select.filter((code) => !on.has(code))
  return {
    source: project.source,
    options: project.accepted,
    ignored: [...codes, ...own.ignore.filter((selector) => !off.includes(selector))],
    unfixable: [],
    isExcluded: isExcluded(path, project),
  }
}

function isExcluded(path: string, project: Flake8Project): boolean {
  if (!project.isIncluded(path)) return true
  for (let inner = path; inner !== project.folder && inner !== ''; inner = folderOf(inner)) {
    if (project.isExcluded(inner)) return true
  }
  return false
}
