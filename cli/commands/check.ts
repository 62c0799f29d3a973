import { Option, type Command } from 'commander'
import { ScriptProfile } from '#domain/script-profile.ts'
import { checkPaths, type CheckedItem, type Finding } from '#bundles/check-paths.ts'
import { openTypeChecker } from '#tool-scripts/type-checker.ts'
import { requireArtifactFolder } from '../artifacts/artifact-folder.ts'
import { writeScriptArtifacts } from '../artifacts/write-script-artifacts.ts'
import type { CliContext } from '../cli-context.ts'
import { findableNodes } from '../discover/findable-nodes.ts'
import { findingText } from '../finding-text.ts'
import { plural } from '../plural.ts'
import { visible } from '../visible.ts'
import { orInterrupted } from '../or-interrupted.ts'

type CheckOptions = {
  strict?: true
  format: 'text' | 'json'
  json?: true
  profile?: ScriptProfile
  artifacts?: string
}

/**
 * `remora check [PATH…]`: bundles and tool scripts against their rules. Exit code 1 on faults, with --strict on
 * warnings too.
 */
export function addCheckCommand(
  program: Command,
  { io, signal, cwd, config }: Pick<CliContext, 'io' | 'signal' | 'cwd' | 'config'>,
): void {
  program
    .command('check')
    .description('check agent bundles and tool scripts; exit code 1 on any fault')
    .argument('[path...]', 'bundle folders, folders of bundles or of .pym files, .pym files (default: agents)')
    .option('--strict', 'warnings are faults')
    .addOption(
      new Option('--profile <profile>', 'what scripts may use (default: what their bundle says)').choices(
        ScriptProfile.options,
      ),
    )
    .addOption(new Option('--format <format>', 'how to print').choices(['text', 'json']).default('text'))
    .option('--json', 'the same as --format json')
    .option('--artifacts <folder>', 'write there what the compiler makes of each script: its schema, stubs and code')
    .action(async (named: string[], options: CheckOptions) => {
      const paths = named.length === 0 ? ['agents'] : named
      const checked = await checkAll(paths, options, { signal, cwd, config })
      const passes = (item: CheckedItem): boolean => !item.findings.some((found) => isFault(found, options))
      const ok = checked.every(passes)
      const isJson = options.json === true || options.format === 'json'
      io.out(
        isJson
          ? `${JSON.stringify({ ok, checked: checked.map((item) => view(item, passes(item))) })}\n`
          : visible(describe(checked, passes)),
      )
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
    const findable = await findableNodes(config.queries)
    const checked = await orInterrupted(checkPaths(paths, { ...findable, profile, typeChecker }), signal)
    const scripts = checked.flatMap((item) => item.scripts)
    if (dir !== undefined) await orInterrupted(writeScriptArtifacts(scripts, { dir, cwd }), signal)
    return checked
  } finally {
    await typeChecker.close()
  }
}

function isFault(found: Finding, options: CheckOptions): boolean {
  return found.severity === 'error' || options.strict === true
}

function view(item: CheckedItem, valid: boolean) {
  const { kind, path, name, tools, maxTurns, findings } = item
  return { kind, path, name, valid, tools, max_turns: maxTurns, findings }
}

function describe(checked: readonly CheckedItem[], passes: (item: CheckedItem) => boolean): string {
  return checked.map((item) => [...item.findings.map(findingText), verdict(item, passes(item))].join('')).join('')
}

function verdict({ name, tools, maxTurns, findings }: CheckedItem, valid: boolean): string {
  const size = tools === undefined ? '' : `${tools} tools, max_turns ${maxTurns}`
  const warnings = findings.filter(({ severity }) => severity === 'warning').length
  const notes = [size, warnings === 0 ? '' : plural(warnings, 'warning')].filter((note) => note !== '').join(', ')
  return `${name}: ${valid ? 'PASS' : 'FAIL'}${notes === '' ? '' : ` (${notes})`}\n`
}
