import type { Command } from 'commander'
import { loadBundles, type LoadedBundle } from '#bundles/load-bundle.ts'
import type { CliContext } from '../cli-context.ts'
import { visible } from '../terminal-text.ts'
import { untilAborted } from '#platform/clock.ts'
import { agentsHere } from '../run/known-agents.ts'
import { shownPath } from '../wording.ts'

/** `remora agents`: the bundles of an embedded stack. A remote service may have others. */
export function addAgentsCommand(program: Command, { io, cwd, signal, config }: CliContext): void {
  program
    .command('agents')
    .description('list the agents: what each does, on which nodes, with which tools and limits')
    .option('--json', 'print one JSON document')
    .action(async ({ json }: { json?: true }) => {
      const { agentsDir } = config
      await agentsHere(config)
      const loaded = await untilAborted(loadBundles(agentsDir), signal)
      const bundles = [...loaded.values()].map((bundle) => agentView(bundle))
      if (json) io.out(`${JSON.stringify({ agents: bundles })}\n`)
      else io.out(visible(bundles.map((view) => describe(view, cwd)).join('\n')))
    })
}

function agentView({ dir, bundle: { file } }: LoadedBundle) {
  return {
    name: file.name,
    description: file.description,
    node_kinds: file.node_kinds,
    languages: file.languages,
    after: file.after,
    after_optional: file.after_optional,
    tools: file.tools.map((tool) => ('builtin' in tool ? tool.builtin : tool.name)),
    limits: file.limits,
    settings: file.settings,
    from: dir,
  }
}

function limitText(value: number | object): string {
  if (typeof value === 'number') return String(value)
  return Object.entries(value)
    .map(([name, one]) => (name === 'preset' ? one : `${name} ${one}`))
    .join(' ')
}

function describe(view: ReturnType<typeof agentView>, cwd: string): string {
  const limits = Object.entries(view.limits).map(([name, value]) => `${name} ${limitText(value)}`)
  const rows = [
    ['takes', `${view.node_kinds.join(', ')} in ${view.languages.join(', ')}`],
    ['after', [...view.after, ...view.after_optional.map((name) => `${name} (optional)`)].join(', ')],
    ['tools', view.tools.join(', ')],
    ['limits', limits.join(', ')],
    ['from', shownPath(view.from, cwd)],
  ]
  const lines = rows.flatMap(([name = '', value = '']) => (value === '' ? [] : [`  ${name.padEnd(7)} ${value}\n`]))
  return `${view.name}: ${view.description}\n${lines.join('')}`
}
