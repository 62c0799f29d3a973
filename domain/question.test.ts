import { describe, expect, it } from 'vitest'
import { AskedQuestion } from './question.ts'

describe('a question', () => {
  it.each([
    ['free', { text: 'Which?', choices: null }],
    ['with choices', { text: 'Which?', choices: ['a', 'b'] }],
  ])('may be %s', (_kind, question) => expect(AskedQuestion.safeParse(question).success).toBe(true))

  it.each([
    ['no words', { text: ' \n', choices: null }],
    ['too many words', { text: 'x'.repeat(3001), choices: null }],
    ['no choice', { text: 'Which?', choices: [] }],
    ['a choice that nobody can give', { text: 'Which?', choices: ['a', ' '] }],
    ['one choice twice', { text: 'Which?', choices: ['a', 'a'] }],
    ['a list of choices that is no list of text', { text: 'Which?', choices: [1] }],
  ])('has not %s', (_fault, question) => expect(AskedQuestion.safeParse(question).success).toBe(false))
})
