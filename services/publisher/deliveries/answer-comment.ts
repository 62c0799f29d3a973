import MarkdownIt from 'markdown-it'
import { requireGenuine } from '#domain/genuine-run.ts'
import type { DeliveryBody, DeliveryOutcome } from '#code-hosts/delivery.ts'
import type { InstalledRepository } from '#code-hosts/installations.ts'
import { AppError, hasCode, undefinedOn } from '#domain/error.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { cell, clipped, code, plural } from '#stages/publish/markdown.ts'
import { nextWindow } from '#settings/schedule.ts'
import { openPullRequests } from '#stages/publish/github/pull-requests.ts'
import { changePublication, findRun } from '#stages/publish/pulls/noted-pulls.ts'
import { writtenHeads } from '#stages/publish/pulls/open-pulls.ts'
import { targetOf } from '#stages/publish/pulls/publish-pulls.ts'
import type { PublishingRuns } from '#stages/publish/pulls/publishing-runs.ts'
import { openRunHost, type RunHostDeps } from '#stages/publish/pulls/run-host.ts'
import type { ReviewCommands } from './review-commands.ts'
import { whyNotAllowed } from './take-requests.ts'
import { randomUUID } from 'node:crypto'

export type CommentDeps = RunHostDeps & {
  ledger: Pick<Ledger, 'getRun' | 'notePublication'>
  publishing: Pick<PublishingRuns, 'look' | 'runOfPull'>
  review: Pick<ReviewCommands, 'explain' | 'rejectPath' | 'retry'>
}

const ignored = (reason: string): DeliveryOutcome => ({ outcome: 'ignored', reason })

/** The answer counts the commands of a comment that are left. */
const mostCommands = 10
/** GitHub takes 65,536 characters in a comment. */
const mostCharacters = 60_000

const help = [
  'Remora takes these commands here, each at the beginning of a line:',
  '',
  '- `/remora reject PATH` rejects the changes of a file, or of files that a pattern such as `docs/**` matches, also for later runs; `PATH NAME`: those of one definition.',
  '- `/remora explain PATH` says how the changes of a file were made and checked; `PATH NAME` or `NAME`: those of one definition.',
  '- `/remora retry` does again what did not end well.',
  '- `/remora help` shows this list.',
].join('\n')

/** A comment gets one answer, or a reaction: a thumb down for who may not write, confusion at what is not of ours. */
export async function takeComment(
  { number, isPullRequest, author, text, commentId }: Extract<DeliveryBody, { kind: 'comment' }>,
  repository: InstalledRepository,
  deps: CommentDeps,
): Promise<DeliveryOutcome> {
  const commands = author.isBot ? [] : commandsOf(text)
  if (commands.length === 0) return ignored('the comment has no command')
  const open = async () =>
    openPullRequests(await deps.app.clientFor({ ...repository, repository }, { pull_requests: 'write' }), repository)
  const runId = isPullRequest ? await deps.publishing.runOfPull(repository.id, number) : undefined
  const run = await findRun(runId, deps)
  const react = async (how: '-1' | 'confused', why: string) => {
    // Where it is no pull request, the app has no right to.
    await (await open()).react(commentId, how).catch(undefinedOn('HOST_003'))
    return ignored(why)
  }
  if (run === undefined) return react('confused', 'the comment is at no pull request of ours')
  requireGenuine(run)
  const refused = await whyNotAllowed(author.login, repository, deps)
  if (refused !== undefined) return react('-1', refused)
  const key = `answer-${commentId}`
  const answer = await answerAll(commands, { run, number, key, login: author.login }, deps)
  await (await open()).commentOnce(number, { key, text: answer })
  await changePublication(run.runId, (publication) => ({ ...publication, isSettled: false }), deps)
  const verbs = commands.slice(0, mostCommands).map(({ verb }) => `/remora ${isKnown(verb) ? verb : 'help'}`)
  return { outcome: 'acted', reason: `${author.login}: ${verbs.join(', ')}`, runId: run.runId }
}

const isKnown = (verb: string) => ['explain', 'help', 'reject', 'retry'].includes(verb)

/** `key` is that of the answer. */
type Asking = { run: Run; number: number; key: string; login: string }

/** Each command has its part of the answer, behind its own words where there are several. */
async function answerAll(commands: readonly CommentCommand[], asking: Asking, deps: CommentDeps): Promise<string> {
  const done = commands.slice(0, mostCommands)
  const parts: string[] = []
  for (const command of done) {
    const answer = clipped(await answerTo(command, asking, deps), mostCharacters / done.length)
    if (answer !== '') parts.push(commands.length === 1 ? answer : `${code(command.text)}: ${answer}`)
  }
  const left = commands.length - done.length
  const were = left === 1 ? 'was' : 'were'
  if (left > 0)
    parts.push(`The last ${plural(left, 'command')} of this comment ${were} not done: ${mostCommands} are the most.`)
  if (done.some(({ verb }) => verb === 'help' || !isKnown(verb))) parts.push(help)
  return parts.join('\n\n')
}

/** It is empty where the list of commands is the answer. */
async function answerTo({ verb, argument }: CommentCommand, asking: Asking, deps: CommentDeps): Promise<string> {
  if (verb === 'help') return ''
  if (!isKnown(verb)) return `There is no command ${code(verb)}.`
  try {
    if (verb === 'retry') return await deps.review.retry(asking.run, asking.key)
    if (argument === undefined) return `Say of what: \`/remora ${verb} PATH\`.`
    const answer = await (verb === 'reject' ? reject(argument, asking, deps) : explain(argument, asking, deps))
    return answer ?? `Nothing here changes ${code(argument)}. Files and definitions are named in the text above.`
  } catch (error) {
    if (hasCode(error, 'STORE_001', 'STORE_002', 'HOST_001')) throw error
    return `That was not done: ${error instanceof AppError ? cell(error.message) : 'something unexpected happened.'}`
  }
}

async function explain(what: string, { run }: Asking, deps: CommentDeps): Promise<string | undefined> {
  const answers = new Set<string>()
  for (const holder of await runsInPulls(run, deps)) {
    const explained = await deps.review.explain(holder, what)
    if (explained !== undefined) answers.add(explained)
  }
  return answers.size === 0 ? undefined : [...answers].join('\n\n')
}

async function reject(path: string, asking: Asking, deps: CommentDeps): Promise<string | undefined> {
  const all = []
  for (const holder of await runsInPulls(asking.run, deps)) {
    const rejection = await deps.review.rejectPath(holder, path, asking.login)
    if (rejection !== undefined) all.push(rejection)
  }
  if (all.length === 0) return undefined
  const rejected = all.reduce((sum, result) => sum + result.rejected, 0)
  const refused = all.reduce((sum, result) => sum + result.refused, 0)
  const sentences = [
    rejected === 0
      ? ''
      : `${plural(rejected, 'change')} rejected${await sequelOf(rejected, asking, deps)} ${again(rejected)}`,
    refused === 0 ? '' : `${plural(refused, 'change')} could not be rejected.`,
  ].filter((sentence) => sentence !== '')
  return sentences.length === 0 ? `What changes ${code(path)} was rejected before.` : sentences.join(' ')
}

const again = (count: number) => (count === 1 ? 'It is not proposed again.' : 'The same ones are not proposed again.')

/** The branch is looked up, since people may have worked on it since it was written. */
async function sequelOf(count: number, { run, number }: Asking, deps: CommentDeps): Promise<string> {
  const pull = run.publication?.pulls.find((known) => known.number === number)
  const state = pull?.state ?? 'closed'
  if (pull === undefined || state !== 'open') return `. This pull request is ${state}, so its branch stays as it is.`
  const [they, leave, them] = count === 1 ? ['it', 'leaves', 'it'] : ['they', 'leave', 'them']
  const stays = count === 1 ? 'it stays' : 'they stay'
  try {
    const host = await openRunHost(run, deps)
    const { branch } = pull
    const written = await writtenHeads(run, { branch, number }, deps)
    await host.requireOwn({ branch, baseBranch: await targetOf(host), written })
    const { schedule, timezone } = await host.settings()
    const waits = run.publication?.isAsked === true ? undefined : nextWindow(schedule, timezone, new Date())
    const when = waits === undefined ? 'in a moment' : `when \`github.schedule\` has its next time: ${cell(waits)}`
    return `; ${they} ${leave} this branch ${when}.`
  } catch (error) {
    if (!(error instanceof AppError) || error.retry) throw error
    if (error.code !== 'PUBLISH_002')
      return `, but ${stays} on this branch for now: ${code(error.code)} ${cell(error.message)}`
    const why = 'it has a commit that is not of Remora, which leaves it as it is (`PUBLISH_002`)'
    const ways = `Take ${them} out with a commit of your own, or delete the branch: the next run makes it anew without ${them}, and without that commit.`
    return `, but ${stays} on this branch: ${why}. ${ways}`
  }
}

/** Returns the run, and the earlier ones whose changes its pull requests have. */
async function runsInPulls(run: Run, { ledger }: Pick<CommentDeps, 'ledger'>): Promise<Run[]> {
  const sources = new Set((run.publication?.pulls ?? []).flatMap(({ carried }) => carried.map(({ runId }) => runId)))
  const former = await Promise.all([...sources].map((runId) => findRun(runId, { ledger })))
  return [run, ...former.filter((known) => known !== undefined)]
}

type CommentCommand = { text: string; verb: string; argument: string | undefined }

const parser = new MarkdownIt({ html: true })
/** Text inside these blocks is quoted, hidden or code, also behind an empty line, where Markdown goes on. */
const enclosing = /<(\/?)(?:details|pre|code|blockquote|template|script|style|textarea|table)\b[^<>]*>/gi
const commandForm = /^\/remora(?:[ \t]+(\S+)(?:[ \t]+(\S.*?))?)?[ \t]*$/
/** A command begins a line of plain text: no code, quotation, list, table or HTML comment. */
export function commandsOf(text: string): CommentCommand[] {
  const lines = text.split(/\r\n|\r|\n/)
  const commands = new Map<string, CommentCommand>()
  const mark = `remora${randomUUID().replaceAll('-', '')}`
  // A word without a meaning in Markdown stands for each command, so that it is found again where it is read as text.
  const marked = lines.map((line, at) => {
    const [whole, verb = 'help', argument] = commandForm.exec(line) ?? []
    if (whole === undefined) return line
    const word = `${mark}x${at}x`
    commands.set(word, { text: whole.trim(), verb, argument })
    return line.replace('/remora', word)
  })
  const words = commands.size === 0 ? [] : plainLineStarts(marked.join('\n'))
  return words.flatMap((start) => commands.get(/^\w+/.exec(start)?.[0] ?? '') ?? [])
}

function plainLineStarts(text: string): string[] {
  const starts: string[] = []
  let open = 0
  for (const token of parser.parse(text, {})) {
    if (token.type === 'html_block') open = openAfter(open, token.content)
    if (token.type !== 'inline') continue
    let isStart = true
    for (const { type, content } of token.children ?? []) {
      if (type === 'text' && isStart && open === 0 && token.level === 1) starts.push(content)
      if (type === 'html_inline') open = openAfter(open, content)
      isStart = type === 'softbreak' || type === 'hardbreak' || (isStart && type === 'text' && content === '')
    }
  }
  return starts
}

function openAfter(open: number, html: string): number {
  const visible = html.replaceAll(/<!--[^]*?(?:-->|$)/g, '')
  return [...visible.matchAll(enclosing)].reduce((sum, [, end]) => Math.max(0, sum + (end === '/' ? -1 : 1)), open)
}
