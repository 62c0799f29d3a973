import { expect, it, onTestFinished } from 'vitest'
import { AppError } from '#domain/error.ts'
import { until } from '#testing/until.ts'
import { borrowAnswers, lendAnswers } from './lent-answers.ts'

it('answers each question of the other side, also out of their order', async () => {
  const [slow, quick] = [Promise.withResolvers<string>(), Promise.resolve('at once')]
  const port = lendAnswers((name: string) => (name === 'slow' ? slow.promise : quick), 2)
  onTestFinished(() => port.close())
  const ask = borrowAnswers<string, string>(port)
  const first = ask('slow')
  expect(await ask('quick')).toBe('at once')
  slow.resolve('later')
  expect(await first).toBe('later')
})

it('passes on a fault with its code and phase', async () => {
  const fault = new AppError('TOOL_006', 'too deep', { phase: 'execution' })
  const port = lendAnswers(() => Promise.reject(fault), 1)
  onTestFinished(() => port.close())
  await expect(borrowAnswers(port)('a text')).rejects.toMatchObject({
    code: 'TOOL_006',
    message: 'too deep',
    phase: 'execution',
  })
})

it('begins no more questions at once than it may', async () => {
  const begun: PromiseWithResolvers<string>[] = []
  const port = lendAnswers(() => {
    const one = Promise.withResolvers<string>()
    begun.push(one)
    return one.promise
  }, 1)
  onTestFinished(() => port.close())
  const ask = borrowAnswers<string, string>(port)
  const answers = [ask('one'), ask('two')]
  await until(() => begun.length > 0)
  begun[0]?.resolve('first')
  expect(await answers[0]).toBe('first')
  await until(() => begun.length > 1)
  begun[1]?.resolve('second')
  expect(await answers[1]).toBe('second')
  expect(begun).toHaveLength(2)
})
