import { expect, it } from 'vitest'
import { paintMarkdown } from './paint-markdown.ts'

it('paints headings and what is said about the conversation, and nothing of the conversation itself', () => {
  const text = '# Title\n- a fact\n````md\n# of others\n- of others\n```\n````\n## Next'
  expect(paintMarkdown(text, (style, line) => `<${style}>${line}`)).toBe(
    '<bold># Title\n<dim>- a fact\n<dim>````md\n# of others\n- of others\n```\n<dim>````\n<bold>## Next',
  )
})
