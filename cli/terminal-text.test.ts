import { describe, expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
import { describeFailure } from './describe-failure.ts'
import { paintMarkdown, visible, visibleName } from './terminal-text.ts'

describe('text of others', () => {
  it('is shown, and never obeyed by the terminal', () => {
    expect(visible('\u001B]0;owned\u0007\u001B[31mred\r\u009B2Jé\u202Eexe.txt\n\tlast')).toBe(
      '\\u001b]0;owned\\u0007\\u001b[31mred\\u000d\\u009b2Jé\\u202eexe.txt\n\tlast',
    )
  })

  it('in a name cannot look like another line', () => {
    expect(visibleName('a\nSince HEAD: 0 added\u2028b\tc.py')).toBe('a\\u000aSince HEAD: 0 added\\u2028b\\u0009c.py')
  })

  it('is so within every failure, ours and bugs, whose documents have it as it is', () => {
    const named = 'remora.yaml:1: unknown key \u001B]0;owned\u0007'
    for (const error of [new AppError('CONFIG_004', named), new Error(named)]) {
      const { text, document } = describeFailure(error)
      expect(text).toContain('unknown key \\u001b]0;owned\\u0007')
      expect(text.includes('\u001B')).toBe(false)
      expect(document.error.message).toBe(named)
    }
  })

  it('names no login of an address in a failure', () => {
    const { text, document } = describeFailure(
      new AppError('CONFIG_006', 'nothing at http://u:secret@host/?key=secret'),
    )
    expect(text).toBe('remora: CONFIG_006 nothing at http://host/?key=***\n')
    expect(document.error.message).not.toContain('secret')
  })
})

it('paints headings and what is said about the conversation, and nothing of the conversation itself', () => {
  const text = '# Title\n- a fact\n````md\n# of others\n- of others\n```\n````\n## Next'
  expect(paintMarkdown(text, (style, line) => `<${style}>${line}`)).toBe(
    '<bold># Title\n<dim>- a fact\n<dim>````md\n# of others\n- of others\n```\n<dim>````\n<bold>## Next',
  )
})
