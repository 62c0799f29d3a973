import { describe, expect, it } from 'vitest'
import { compileTemplate, findTemplateFaults } from './template.ts'

const names = { variables: new Set(['node_text', 'language']), settings: new Set(['style']) }

describe('compileTemplate', () => {
  it('renders text as it is, without escaping', () => {
    const template = compileTemplate(
      '```{{ language }}\n{{ node_text }}\n```{% if settings.style == "long" %} long{% endif %}',
    )
    const variables = { language: 'python', node_text: '{{ x }} <a> & "b"', settings: { style: 'long' } }
    expect(template.render(variables)).toBe('```python\n{{ x }} <a> & "b"\n``` long')
  })

  it('refuses to put out a variable without a value', () => {
    expect(() => compileTemplate('{{ node_text }}').render({})).toThrow(expect.objectContaining({ code: 'AGENT_001' }))
  })

  it.each([
    '{{ node_text.constructor.constructor("return process")() }}',
    '{{ settings["constructor"]["constructor"]("x")() }}',
    '{{ range(3) }}',
    '{% include "/etc/passwd" %}',
    '{% extends "a" %}',
    '{% set a %}{{ range(3) }}{% endset %}',
    '{{ node_text | groupby("constructor") }}',
    '{% for x in loop.constructor %}{% endfor %}',
    '{{ node_text',
  ])('refuses %s', (source) => {
    expect(() => compileTemplate(source)).toThrow(expect.objectContaining({ code: 'AGENT_001' }))
  })
})

describe('findTemplateFaults', () => {
  it('finds unknown variables and settings with their place', () => {
    const faults = findTemplateFaults('{{ node_text }}\n  {{ nod }}{% if settings.tone %}x{% endif %}', names)
    expect(faults.map(({ line, column, message }) => [line, column, message.split(';')[0]])).toEqual([
      [2, 6, 'unknown variable nod'],
      [2, 18, 'unknown setting settings.tone'],
    ])
  })

  it('takes names that the template sets itself', () => {
    const source = '{% set n = 1 %}{% for a, b in [1] %}{{ loop.index }}{{ a }}{{ b }}{{ n }}{% endfor %}'
    expect(findTemplateFaults(source, names)).toEqual([])
  })
})
