import { describe, expect, it } from 'vitest'
import { unknownAgents } from './bundle-files.ts'

describe('agents that nobody knows', () => {
  it.each([
    [['lint', 'test'], undefined],
    [['docstrings', 'lint'], 'unknown agent: docstrings (did you mean docstring?); known: docstring, lint, test'],
    [['typos', 'lnt', 'typos'], 'unknown agent: typos, lnt (did you mean lint?); known: docstring, lint, test'],
    [['typos'], 'unknown agent: typos; known: docstring, lint, test'],
  ])('of %j are named, with what was probably meant', (agents, said) => {
    expect(unknownAgents(agents, ['docstring', 'lint', 'test'])).toBe(said)
  })
})
