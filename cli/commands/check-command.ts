import { Option, type Command } from 'commander'
import { ScriptProfile } from '#domain/agent-bundle.ts'
import { plural } from '#domain/timeline/words.ts'
import { checkPaths, type CheckedItem } from '#bundles/check-paths.ts'
import { openTypeChecker } from '#tool-scripts/type-checker.ts'
import { requireArtifactFolder, writeScriptArtifacts } from '../write-script-artifacts.ts'
import type { CliContext } from '../cli-context.ts'
import { loadFindableNodes } from '../discover/local-discovery.ts'
import { diagnosticText } from '../diagnostic-text.ts'
import { shownPath } from '../wording.ts'
import { visible } from '../terminal-text.ts'
import { untilAborted } from '#platform/clock.ts'

type CheckOptions = {
  strict?: true
  format: 'text' | 'json'
  json?: true
  profile?: ScriptProfile
  artifacts?: string
}

/** `remora check [PATH…]`: checks bundles and tool scripts. Exit code 1 on faults, with --strict also on warnings. */
export function addCheckCommand(
  command: Command,
  { io, signal, cwd, config }: Pick<CliContext, 'io' | 'signal' | 'cwd' | 'config'>,
): void {
  const profile = new Option('--profile <profile>', 'what scripts may use (default: what their bundle says)')
  command
    .argument(
      '[path...]',
      'bundle folders, folders of bundles or of .pym files, .pym files (default: agents.dir of the settings, else agents)',
    )
    .option('--strict', 'warnings are faults')
    .addOption(profile.choices(ScriptProfile.options))
    .addOption(new Option('--format <format>', 'how to print').choices(['text', 'json']).default('text'))
    .option('--json', 'the same as --format json')
    .option(
      '--artifacts <folder>',
      "write the compiler's output for each script to this folder: its schema, stubs and code",
    )
    .action(async (named: string[], options: CheckOptions) => {
      const paths =
        named.length > 0 ? named : [config.agentsDir === undefined ? 'agents' : shownPath(config.agentsDir, cwd)]
      const checked = await checkAll(paths, options, { signal, cwd, config })
      const passes = (item: CheckedItem): boolean =>
        !item.diagnostics.some(({ severity }) => severity === 'error' || options.strict === true)
      const ok = checked.every(passes)
      const isJson = options.json === true || options.format === 'json'
      const document = { ok, checked: checked.map((item) => view(item, passes(item))) }
      io.out(isJson ? `${JSON.stringify(document)}\n` : visible(describe(checked, passes)))
      if (!ok) io.exit(1)
    })
}

async function checkAll(
  paths: readonly string[],
  { artifacts: dir, profile }: CheckOptions,
  { signal, cwd, config }: Pick<CliContext, 'signal' | 'cwd' | 'config'>,
): Promise<CheckedItem[]> {
  if (dir !== undefined) await requireArtifactFolder(dir)
  const typeChecker = openTypeChecker()
  try {
    const findable = await loadFindableNodes(config.queries)
    const checked = await untilAborted(checkPaths(paths, { ...findable, profile, typeChecker }), signal)
    const scripts = checked.flatMap((item) => item.scripts)
    if (dir !== undefined) await untilAborted(writeScriptArtifacts(scripts, { dir, cwd }), signal)
    return checked
  } finally {
    await typeChecker.close()
  }
}

function view(item: CheckedItem, valid: boolean) {
  const { kind, path, name, tools, maxTurns, diagnostics } = item
  return { kind, path, name, valid, tools, max_turns: maxTurns, findings: diagnostics }
}

function describe(checked: readonly CheckedItem[], passes: (item: CheckedItem) => boolean): string {
  return checked.map((item) => [...item.diagnostics.map(diagnosticText), verdict(item, passes(item))].join('')).join('')
}

function verdict({ name, tools, maxTurns, diagnostics }: CheckedItem, valid: boolean): string {
  const size = tools === undefined ? '' : `${plural(tools, 'tool')}, max_turns ${maxTurns}`
  const warnings = diagnostics.filter(({ severity }) => severity === 'warning').length
  const notes = [size, warnings === 0 ? '' : plural(warnings, 'warning')].filter((note) => note !== '').join(', ')
  return `${name}: ${valid ? 'PASS' : 'FAIL'}${notes === '' ? '' : ` (${notes})`}\n`
}
