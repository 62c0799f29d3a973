import { z } from 'zod'

const Thinking = z.union([z.string(), z.array(z.looseObject({ text: z.string().nullish() }))])
/** A message's content: text, or a list of parts, as Mistral's models answer with their thoughts. */
export const Content = z.union([
  z.string(),
  z.array(z.looseObject({ type: z.string(), text: z.string().nullish(), thinking: Thinking.nullish() })),
])
export type Content = z.infer<typeof Content>

/** What is said and what is thought in a content; parts of other types are neither. */
export function readContent(content: Content | null | undefined): { text: string | null; thought: string } {
  if (content === null || content === undefined) return { text: null, thought: '' }
  if (typeof content === 'string') return { text: content, thought: '' }
  const texts = content.flatMap(({ type, text }) => (type === 'text' && text ? [text] : []))
  const thoughts = content.flatMap(({ type, thinking }) => (type === 'thinking' ? [thoughtText(thinking)] : []))
  return { text: texts.length === 0 ? null : texts.join(''), thought: thoughts.join('') }
}

function thoughtText(thinking: z.infer<typeof Thinking> | null | undefined): string {
  if (typeof thinking === 'string') return thinking
  return (thinking ?? []).map(({ text }) => text ?? '').join('')
}
