import { rehearsalLabel } from '#domain/rehearsal-label.ts'
import { formatSeconds } from '../format-seconds.ts'
import { plural } from '../plural.ts'
import { visible } from '../visible.ts'
import type { Percentiles } from '#platform/percentiles.ts'
import type { SideReport } from './side-report.ts'
import type { Side } from './side.ts'

const shownFaults = 12

/** Who was asked, and how: one line. */
export function describeModel({ side, answeredBy }: SideReport): string {
  const asked = side.model === answeredBy || answeredBy === rehearsalLabel ? '' : `, asked for as ${side.model}`
  return visible(`${answeredBy} (${side.servers}${asked})`)
}

export function describeSettings({
  toolChoice,
  constraint,
  temperature,
  maxTokens,
  toolGuide,
  stream,
}: Side['settings']): string {
  const guide = toolGuide ? 'with tool guide' : 'without tool guide'
  const held = constraint === 'none' ? '' : `, constraint ${constraint}`
  const how = stream ? ', streamed' : ''
  return `tool_choice ${toolChoice}${held}, temperature ${temperature}, max_tokens ${maxTokens}, ${guide}${how}`
}

/** Times and tokens: a line each. */
export function describeCosts({ costs, total }: SideReport): string[] {
  const { latencyMs, replies, tries } = costs
  const each = (tokens: number) => Math.round(tokens / Math.max(1, replies))
  const firstToken = latencyMs.firstToken === undefined ? [] : [`first token ${times(latencyMs.firstToken)}`]
  const latency = [`first reply ${times(latencyMs.firstReply)}`, ...firstToken, `agent ${times(latencyMs.agent)}`]
  const workarounds = Object.entries(costs.workarounds).map(([name, count]) => `${name} (${count})`)
  return [
    `latency   ${latency.join('; ')}`,
    `tokens    ${each(costs.promptTokens)} in and ${each(costs.completionTokens)} out a reply; ` +
      `${costs.tokensPerSecondOfReply.toFixed(1)}/s of a reply, ${costs.tokensPerSecond.toFixed(1)}/s of all together`,
    `replies   ${replies} in ${plural(total.requests, 'agent')}, ${plural(tries, 'request')} sent for them`,
    ...(total.parsedFromContent === 0
      ? []
      : [`content   ${(total.parsedFromContent * 100).toFixed(1)} % of the calls were read from the reply's content`]),
    ...(workarounds.length === 0 ? [] : [`workarounds: ${workarounds.join(', ')}`]),
  ]
}

/** What went wrong, by kind; of what the model was told of, too. */
export function describeFaults({ faults }: Pick<SideReport, 'faults'>): string[] {
  if (faults.length === 0) return ['errors    none']
  const shown = faults.slice(0, shownFaults)
  const lines = shown.map(({ code, count, agents, message }) => {
    return visible(`  ${code}  ${count} in ${plural(agents, 'agent')}: ${firstLine(message)}`)
  })
  const more = faults.length - shown.length
  return ['errors', ...lines, ...(more > 0 ? [`  … and ${more} more kinds`] : [])]
}

function times(percentiles: Percentiles | undefined): string {
  if (percentiles === undefined) return 'none'
  const { p50, p95, p99 } = percentiles
  return `p50 ${formatSeconds(p50)}, p95 ${formatSeconds(p95)}, p99 ${formatSeconds(p99)}`
}

function firstLine(message: string): string {
  const [line = ''] = message.split('\n')
  return line.length > 160 ? `${line.slice(0, 159)}…` : line
}
