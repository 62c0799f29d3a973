import { entryMarkdown } from './entry-markdown.ts'
import { code, fenced, figure, lengthOfTime } from './markdown-text.ts'
import type { TranscriptView } from './transcript-schema.ts'

/**
 * A transcript for people: nothing of the conversation is cut, and every text of others stands in code, where it is
 * neither Markdown nor anything a terminal obeys.
 */
export function transcriptMarkdown(transcript: TranscriptView): string {
  const servers = serversOf(transcript)
  const manner = { startedAtMs: Date.parse(transcript.started_at), namesServers: servers.length > 1 }
  const paragraphs = [
    ...heading(transcript, servers),
    ...transcript.entries.flatMap((entry) => entryMarkdown(entry, manner)),
    ...ending(transcript),
  ]
  return `${paragraphs.join('\n\n')}\n`
}

function heading(transcript: TranscriptView, servers: readonly string[]): string[] {
  const { agent, node, status, outcome, evidence, model } = transcript
  const failed = outcome?.error_code === undefined ? '' : ` ${code(outcome.error_code)}`
  const at = servers.length === 0 ? '' : ` at ${servers.map(code).join(', ')}`
  const lines = [
    `status: ${status}${failed}${outcome === null ? ', not ended: this is how far it came' : ''}`,
    `model: ${model === '' ? 'none answered' : code(model)}${at}`,
    costOf(transcript),
    ...changeOf(transcript),
    ...evidence.map(evidenceLine),
    `node: ${node.kind}, ${node.language}, lines ${node.start_line}-${node.end_line}`,
    `run ${code(transcript.run_id)}, operation ${code(transcript.operation_id)}, attempt ${transcript.attempt}${earlier(transcript)}`,
    `began ${transcript.started_at}; times are from there`,
    `record ${code(transcript.record_hash)}, bundle ${code(transcript.bundle_hash)}`,
  ]
  const title = `# ${code(agent)} on ${code(node.path)} ${code(node.qualified_name)}`
  return [title, lines.map((line) => `- ${line}`).join('\n')]
}

function evidenceLine({ check, of, path, ok, tool, detail = '' }: TranscriptView['evidence'][number]): string {
  if (check === 'not_checked') return `not checked: ${of ?? 'nothing'} of ${code(path)} (${detail})`
  return `${ok ? 'proved' : 'not proved'}: ${check} of ${code(path)} (${tool})`
}

/** Attempts that were handed back or lost with their worker have no record. */
function earlier({ attempt }: TranscriptView): string {
  return attempt === 1 ? '' : ' (of those before it, what is not here is in the events alone)'
}

function serversOf({ entries }: TranscriptView): string[] {
  const endpoints = entries.flatMap((entry) => (entry.kind === 'model' ? (entry.exchange?.endpoint ?? []) : []))
  return [...new Set(endpoints)]
}

function costOf({ entries, outcome }: TranscriptView): string {
  const replies = entries.filter((entry) => entry.kind === 'model' && entry.reply !== null)
  const failed = entries.filter((entry) => entry.kind === 'model' && entry.reply === null).length
  const tokens = replies.map((entry) => (entry.kind === 'model' ? entry.exchange?.tokens : undefined))
  const sum = (part: 'prompt' | 'completion') => tokens.reduce((total, one) => total + (one?.[part] ?? 0), 0)
  const { prompt, completion } = outcome?.tokens ?? { prompt: sum('prompt'), completion: sum('completion') }
  return [
    `turns: ${outcome?.turns ?? replies.length}`,
    `${figure(prompt)} tokens in, ${figure(completion)} out`,
    ...(outcome === null ? [] : [lengthOfTime(outcome.duration_ms)]),
    ...(failed === 0 ? [] : [failed === 1 ? '1 request failed' : `${failed} requests failed`]),
  ].join(' · ')
}

function changeOf({ outcome }: TranscriptView): string[] {
  const { change_set_id: single, change_set_ids: several = single === undefined ? [] : [single] } = outcome ?? {}
  if (outcome === null || several.length === 0) return []
  const sets = `change ${several.length === 1 ? 'set' : 'sets'} ${several.map(code).join(', ')}`
  return [`${sets} of ${outcome.changed_files.map(code).join(', ')}`]
}

function ending({ outcome, status, run_id: runId }: TranscriptView): string[] {
  if (outcome === null) {
    const next =
      status === 'waiting' ? `\`remora answer ${runId}\` lists what is asked.` : 'It was answered, and goes on.'
    return ['## Not ended', `The operation is ${status}. ${next}`]
  }
  const { error_code: errorCode, phase, reason, summary } = outcome
  const by = errorCode === undefined ? '' : `: ${code(errorCode)}${phase === undefined ? '' : ` (${phase})`}`
  return [
    `## Outcome: ${outcome.status}${by}`,
    ...(summary === '' ? [] : [fenced(summary)]),
    ...(reason === undefined || reason === summary ? [] : ['Reason:', fenced(reason)]),
  ]
}
