import type { RunView } from '#schemas/run-schema.ts'

/** Quotes the answer, and names what it cites. */
export function answerLines({ text, events, paths, findings }: NonNullable<RunView['answer']>): string[] {
  const cited = [
    ...(events.length === 0 ? [] : [`${events.length === 1 ? 'event' : 'events'} ${events.join(', ')}`]),
    ...paths,
    ...findings.map(({ path, line }) => `${path}:${line}`),
  ]
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return [
    'Answer:',
    ...lines.map((line) => `  ${line}`),
    ...(cited.length === 0 ? [] : [`  It rests on ${cited.join('; ')}`]),
  ]
}
