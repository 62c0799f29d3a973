import { rehearsalLabel } from '#domain/model-kind.ts'
import { formatSeconds, plural } from '#domain/timeline/words.ts'
import type { Percentiles } from '#platform/percentiles.ts'
import type { HarnessReport } from './run-harness.ts'
import type { Rates, SideReport } from './side-report.ts'
import { clip, type Paint, textTable, visible } from '../terminal-text.ts'

const measures = [
  { key: 'called', head: 'called' },
  { key: 'right_tool', head: 'right tool' },
  { key: 'right_arguments', head: 'right arguments' },
  { key: 'submitted', head: 'submitted' },
] as const

const shownFaults = 12

export function describeReport(report: HarnessReport, paint: Paint): string {
  const [tested, other] = report.sides
  const lines = [
    ...describeSides(tested, other),
    describeLoad(report),
    '',
    ...textTable(rateRows(report, paint)),
    '',
    ...textTable(costRows(tested, other)),
    '',
    ...(other === undefined ? faultLines(tested) : [...faultLines(tested, 'A '), ...faultLines(other, 'B ')]),
    '',
    ...describeVerdict(report, paint),
  ]
  return `${lines.join('\n')}\n`
}

function describeSides(tested: SideReport, other: SideReport | undefined): string[] {
  const named = (name: string, side: SideReport) => [
    `${name.padEnd(10)}${describeModel(side)}`,
    `          ${describeSettings(side)}`,
  ]
  return other === undefined ? named('model', tested) : [...named('A', tested), ...named('B', other)]
}

function describeModel({ model, servers, answered_by: answeredBy, is_rehearsal: isRehearsal }: SideReport): string {
  const askedFor = model === answeredBy || isRehearsal ? '' : `, asked for as ${model}`
  return visible(`${answeredBy} (${servers}${askedFor})`)
}

function describeSettings({ settings }: SideReport): string {
  const {
    tool_choice: toolChoice,
    constraint,
    temperature,
    max_tokens: maxTokens,
    tool_guide: toolGuide,
    stream,
  } = settings
  const guide = toolGuide ? 'with tool guide' : 'without tool guide'
  const held = constraint === 'none' ? '' : `, constraint ${constraint}`
  const how = stream ? ', streamed' : ''
  return `tool_choice ${toolChoice}${held}, temperature ${temperature}, max_tokens ${maxTokens}, ${guide}${how}`
}

function describeLoad({ sides, concurrency, seed, ...report }: HarnessReport): string {
  const { requests_per_prompt: requests, peak_in_flight: peakInFlight, duration_ms: durationMs } = report
  const [tested, other] = sides
  const prompts = tested.shapes.reduce((sum, { variants }) => sum + variants.length, 0)
  const which = `${plural(tested.total.requests, 'agent')}, ${requests} for each of ${plural(prompts, 'prompt')}`
  const both = other === undefined ? '' : ', for A and B in turn'
  const load = `${concurrency} at once (at most ${plural(peakInFlight, 'request')} under way)`
  return `load      ${which}${both}; ${load}; seed ${seed}; ${formatSeconds(durationMs)}`
}

/** Returns a row for every shape and under it one for each of its prompts, then one for all. With two sides: A, B and their difference. */
function rateRows({ sides: [tested, other], min_called: minCalled }: HarnessReport, paint: Paint): string[][] {
  const style = { minCalled, paint }
  const row = (name: string, own: Rates, others: Rates | undefined) => [
    name,
    ...measures.map(({ key }) => rateText(key, own, others, style)),
  ]
  const ofShapes = tested.shapes.flatMap((shape, at) => {
    const twin = other?.shapes[at]
    const variants = shape.variants.map((variant, index) => row(`  ${variant.name}`, variant, twin?.variants[index]))
    return [row(shape.name, shape, twin), ...variants]
  })
  const all = row('all', tested.total, other?.total)
  const heads = [['', ...measures.map(({ head }) => head)]]
  if (other !== undefined) heads.push(['', ...measures.map(() => 'A     B    B-A')])
  return [...heads, ...ofShapes, all]
}

function rateText(
  key: (typeof measures)[number]['key'],
  own: Rates,
  other: Rates | undefined,
  { minCalled, paint }: { minCalled: number; paint: Paint },
): string {
  const rate = own[key]
  const rateShown = key === 'called' && rate < minCalled ? paint('red', rate.toFixed(3)) : rate.toFixed(3)
  if (other === undefined) return rateShown
  const change = other[key] - rate
  const changeText = Math.abs(change) < 0.0005 ? '=' : `${change > 0 ? '+' : ''}${change.toFixed(3)}`
  return `${rateShown} ${other[key].toFixed(3)} ${paint(change < 0 ? 'yellow' : 'dim', changeText.padStart(6))}`
}

/** Lists the errors by kind, including those that were reported to the model, and what was done another way. */
function faultLines({ errors: faults, ...report }: SideReport, side = ''): string[] {
  const workarounds = Object.entries(report.workarounds).map(([name, count]) => `${name} (${count})`)
  const first = faults.slice(0, shownFaults).map(({ code, count, agents, message }) => {
    return visible(`  ${code}  ${count} in ${plural(agents, 'agent')}: ${clip(message.split('\n')[0] ?? '', 160)}`)
  })
  const more = faults.length > shownFaults ? [`  … and ${faults.length - shownFaults} more kinds`] : []
  const errors = faults.length === 0 ? ['errors    none'] : ['errors', ...first, ...more]
  const lines = workarounds.length === 0 ? errors : [`workarounds: ${workarounds.join(', ')}`, ...errors]
  return lines.map((line) => `${side}${line}`)
}

/** Returns the costs of one side, or of both with how many percent the second differs. */
function costRows(tested: SideReport, other: SideReport | undefined): string[][] {
  const others = other === undefined ? undefined : figuresOf(other)
  const rows = figuresOf(tested).map(([name, a], at) => {
    if (others === undefined) return [name, numberText(a)]
    const b = others[at]?.[1]
    return [name, numberText(a), numberText(b), percentText(a, b)]
  })
  const shown = rows.filter(([, ...figures]) => figures.some((figure) => figure !== ''))
  return others === undefined ? shown : [['', 'A', 'B', 'B-A'], ...shown]
}

type Figure = readonly [name: string, value: number | undefined]

function figuresOf({ latency_ms: latencyMs, replies, tries, tokens, total }: SideReport): Figure[] {
  const each = (value: number, of: number) => (of === 0 ? undefined : value / of)
  return [
    ...timesOf('first reply', latencyMs.first_reply),
    ...timesOf('first token', latencyMs.first_token),
    ...timesOf('agent', latencyMs.agent),
    ['tokens in a request', each(tokens.prompt, replies)],
    ['tokens in a reply', each(tokens.completion, replies)],
    ['tokens/s of a reply', tokens.per_s_of_reply],
    ['tokens/s of all together', tokens.per_s],
    ['replies of an agent', each(replies, total.requests)],
    ['requests sent for a reply', each(tries, replies)],
    ['calls read from content', total.parsed_from_content],
  ]
}

function timesOf(name: string, percentiles: Percentiles | null): Figure[] {
  return (['p50', 'p95', 'p99'] as const).map((rank) => [`${name} ${rank}, ms`, percentiles?.[rank]])
}

function numberText(value: number | undefined): string {
  if (value === undefined) return ''
  return value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2)
}

function percentText(a: number | undefined, b: number | undefined): string {
  if (a === undefined || b === undefined || a === 0) return ''
  const percent = Math.round((b / a - 1) * 100)
  return percent === 0 ? '=' : `${percent > 0 ? '+' : ''}${percent} %`
}

function describeVerdict(report: HarnessReport, paint: Paint): string[] {
  const { sides, min_called: minCalled } = report
  const [tested, other] = sides
  const rate = `called ${tested.total.called.toFixed(3)}${other === undefined ? '' : ' by A'}`
  const verdict = report.passed
    ? `${paint('green', 'passed')}: ${rate}, at least ${minCalled} (--min-called)`
    : `${paint('red', 'failed')}: ${rate}, less than ${minCalled} (--min-called)`
  const isRehearsal = sides.some((side) => side?.is_rehearsal)
  return isRehearsal
    ? [verdict, `The ${rehearsalLabel} plays by plain rules: its figures say nothing about a model (--model URL).`]
    : [verdict]
}
