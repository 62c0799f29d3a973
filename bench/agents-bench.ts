import { homedir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { saveReport, sectionHead, table } from './reports/markdown-report.ts'
import { agents, type MeasuredSubject, measureSubject } from './subjects/measure-subject.ts'
import { subjects } from './subjects/subjects.ts'

/**
 * `node bench/agents-bench.ts`: lint, docstring, test and sample_data over the example, three packages of PyPI and two of npm, accepted by policy, with
 * their own tests as the gate. Writes results/agents.md; with `--packages a,b`, or `--quick` (the example), it only prints. Exit code 1 when
 * tests that passed do not, or something was accepted without evidence.
 */
const { packages, quick } = parseArgs({
  options: { packages: { type: 'string' }, quick: { type: 'boolean', default: false } },
}).values
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

const named = quick ? ['examples/inventory'] : packages?.split(',')
const chosen = subjects.filter(({ name }) => named?.includes(name) ?? true)
if (chosen.length < (named?.length ?? 1)) throw new Error(`there are ${subjects.map(({ name }) => name).join(', ')}`)

const work = process.env['REMORA_BENCH_AGENTS_DIR'] ?? join(homedir(), '.cache', 'remora-bench-agents')
const measured: MeasuredSubject[] = []
for (const subject of chosen) {
  const result = await measureSubject(subject, work)
  measured.push(result)
  console.log(`${subject.name}: ${faultsOf(result).join('; ') || 'no harm'}`)
}

const faults = measured.flatMap((one) => faultsOf(one).map((fault) => `${one.subject.name}: ${fault}`))
const text = `${sectionHead('Agents that change code, accepted by policy', { command: 'node bench/agents-bench.ts' })}
\`remora submit --agents ${agents.join(',')} --accept auto --verify TESTS\` with the rehearsal model (no LLM) over the example, three sdists of PyPI and two
packages of npm as they are. The tests run on the source and on the source with the accepted patch, outside of the sandbox. A column of an agent says
change sets made → with every check passed → accepted.

${table<MeasuredSubject>(
  [
    ['', ({ subject }) => `**${subject.name}**${subject.from.kind === 'example' ? '' : ` ${subject.from.version}`}`],
    ...agents.map((agent) => [agent, (one: MeasuredSubject) => funnelText(one, agent)] as const),
    ['planted faults noticed', ({ mutants, killed }) => (mutants === 0 ? 'none planted' : `${killed} of ${mutants}`)],
    ['accepted without proof', ({ unproved }) => unproved],
    ['left out by the gate', ({ gate }) => (gate === null ? 'no gate' : `${gate.left_out} (${gate.verdict})`)],
    ['tests before → after', ({ before, after }) => `${stateText(before)} → ${stateText(after)}`],
    ['s', ({ wallMs }) => Math.round(wallMs / 1_000)],
  ],
  measured,
)}

A planted fault is a change of one operator, constant or statement of the tested function.
${faults.map((fault) => `\n**Not proved:** ${fault}\n`).join('')}`
await saveReport('agents', text, { quick: named !== undefined })
process.exitCode = faults.length === 0 ? 0 : 1

function faultsOf({ before, after, patchApplies, unproved, gate, funnel }: MeasuredSubject): string[] {
  return [
    ...(before.passes && !after.passes ? ['its tests passed before and do not with the patch'] : []),
    ...(after.tests < before.tests ? [`${before.tests} tests before, ${after.tests} after`] : []),
    ...(patchApplies ? [] : ['the patch does not apply']),
    ...(unproved === 0 ? [] : [`${unproved} change sets were accepted without proof`]),
    ...(gate?.verdict === 'passed' || funnel.length === 0 ? [] : ['its gate did not pass']),
  ]
}

function funnelText({ funnel }: MeasuredSubject, agent: string): string {
  const found = funnel.find((one) => one.agent === agent)
  return found === undefined ? '0' : `${found.generated} → ${found.verified ?? '?'} → ${found.accepted}`
}

function stateText({ passes, tests }: MeasuredSubject['before']): string {
  return `${tests} ${passes ? 'pass' : 'do not all pass'}`
}
