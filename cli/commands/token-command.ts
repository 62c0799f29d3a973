import { type Command, InvalidArgumentError } from 'commander'
import { z } from 'zod'
import { defaultProject } from '#domain/ids.ts'
import { maxOpenRuns } from '#domain/run.ts'
import { Scope, usualScopes } from '#domain/scope.ts'
import { plural } from '#domain/timeline/words.ts'
import type { TokenView } from '#schemas/token-schema.ts'
import type { CliContext } from '../cli-context.ts'
import { visible } from '../terminal-text.ts'
import { withRuns } from '../run/reach-service.ts'
import { shortTime } from '../wording.ts'
import { commaList, positiveUpTo } from './shared-options.ts'

type CreateOptions = {
  name?: string
  scopes?: Scope[]
  expires?: number
  requestsPerMinute?: number
  runs?: number
  project?: string
  json?: true
}

const projectHelp = 'of this project (only the operator: the token that the service was started with)'

export function addTokenCommand(tokens: Command, context: CliContext): void {
  tokens
    .command('create')
    .description('make a token; its text is shown once')
    .option('--name <name>', 'a name to recognise it by')
    .option('--scopes <scopes>', `of ${Scope.options.join(', ')}; without it ${usualScopes.join(',')}`, scopeList)
    .option('--expires <time>', 'the token expires after this time, such as 30d, 12h or 90m', secondsOf)
    .option('--requests-per-minute <count>', 'so many at once, and a minute in the long run', positiveUpTo(1_000_000))
    .option('--runs <count>', 'how many of its runs may go on at the same time', positiveUpTo(maxOpenRuns))
    .option('--project <id>', projectHelp)
    .option('--json', 'print one JSON document')
    .action(async ({ name, scopes, expires, requestsPerMinute, runs, project, json }: CreateOptions) => {
      const limits = { requests_per_minute: requestsPerMinute, runs }
      const wanted = { name, scopes, expires_in_s: expires, ...limits, project_id: project }
      const made = await withRuns(context, ({ client }) => client.createToken(wanted))
      // Only the text goes to stdout, so that a script can take it; what else a person wants to know goes to stderr.
      context.io.out(json ? `${JSON.stringify(made)}\n` : `${made.token}\n`)
      if (!json) context.io.err(`${tokenLine(made)}\nKeep it now: it is not shown again.\n`)
    })
  tokens
    .command('list')
    .description('list tokens, newest first, without their texts')
    .option('--project <id>', projectHelp)
    .option('--json', 'print one JSON document')
    .action(async ({ project, json }: { project?: string; json?: true }) => {
      const page = await withRuns(context, ({ client }) => client.listTokens(project))
      const damaged = page.unreadable.map(({ token_id: id }) => `${id}  damaged, and refused everywhere: revoke it`)
      const lines = [...page.tokens.map(tokenLine), ...damaged]
      const text = lines.length === 0 ? noTokens(project) : lines.join('\n')
      context.io.out(json ? `${JSON.stringify(page)}\n` : visible(`${text}\n`))
    })
  tokens
    .command('revoke')
    .description('revoke a token: within 2 seconds it is refused everywhere')
    .argument('<id>', 'as the list shows it')
    .option('--json', 'print one JSON document')
    .action(async (tokenId: string, { json }: { json?: true }) => {
      await withRuns(context, ({ client }) => client.revokeToken(tokenId))
      context.io.out(json ? `${JSON.stringify({ token_id: tokenId, revoked: true })}\n` : `${tokenId}: revoked\n`)
    })
}

/** Only the operator sees none: every other token is in the list of its project. */
function noTokens(project: string = defaultProject): string {
  if (project !== defaultProject)
    return `project ${project} has no tokens: "remora token create --project ${project}" makes one`
  const others = '--project ID lists those of another ("remora project list")'
  return `project ${defaultProject} has no tokens other than the one that the service was started with; ${others}`
}

function tokenLine(token: TokenView): string {
  const { expires_at: ends, last_used_at: used } = token
  const life = ends === null ? 'stays' : `${token.expired ? 'expired' : 'until'} ${shortTime(ends)}`
  const use = used === null ? 'never used' : `used ${shortTime(used)}`
  const { requests_per_minute: rate, runs } = token
  const limits = [...(rate === null ? [] : [`${rate} requests/min`]), ...(runs === null ? [] : [plural(runs, 'run')])]
  return [token.token_id, token.scopes.join(','), life, ...limits, use, token.name]
    .filter((part) => part !== '')
    .join('  ')
}

function scopeList(text: string, before?: string[]): Scope[] {
  const scopes = z.array(Scope).min(1).safeParse(commaList(text, before)).data
  if (scopes === undefined) throw new InvalidArgumentError(`It must be one or more of ${Scope.options.join(', ')}.`)
  return scopes
}

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

function secondsOf(text: string): number {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? []
  const seconds = Number(count) * (unitSeconds[unit ?? ''] ?? 0)
  if (seconds >= 60) return seconds
  throw new InvalidArgumentError('It must be a number and a unit, at least a minute: 30d, 12h or 90m.')
}
