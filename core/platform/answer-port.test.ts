import { expect, it, onTestFinished } from 'vitest'
import { AppError } from '#domain/error.ts'
import { until } from '#testing/until.ts'
import { askThroughPort, openAnswerPort } from './answer-port.ts'

it('answers each question of the other side, also out of their order', async () => {
  const [slow, quick] = [Promise.withResolvers<string>(), Promise.resolve('at once')]
  const port = openAnswerPort((name: string) => (name === 'slow' ? slow.promise : quick), 2)
  onTestFinished(() => port.close())
  const ask = askThroughPort<string, string>(port)
  const first = ask('slow')
  expect(await ask('quick')).toBe('at once')
  slow.resolve('later')
  expect(await first).toBe('later')
})

it('passes on a fault with its code and phase', async () => {
  const fault = new AppError('TOOL_006', 'too deep', { phase: 'execution' })
  const port = openAnswerPort(() => Promise.reject(fault), 1)
  onTestFinished(() => port.close())
  await expect(askThroughPort(port)('a text')).rejects.toMatchObject({
    code: 'TOOL_006',
    message: 'too deep',
    phase: 'execution',
  })
})

it('begins no more questions at once than it may', async () => {
  const begun: PromiseWithResolvers<string>[] = []
  const port = openAnswerPort(() => {
    const one = Promise.withResolvers<string>()
    begun.push(one)
    return one.promise
  }, 1)
  onTestFinished(() => port.close())
  const ask = askThroughPort<string, string>(port)
  const answers = [ask('one'), ask('two')]
  await until(() => begun.length > 0)
  begun[0]?.resolve('first')
  expect(await answers[0]).toBe('first')
  await until(() => begun.length > 1)
  begun[1]?.resolve('second')
  expect(await answers[1]).toBe('second')
  expect(begun).toHaveLength(2)
})

it('answers with a fault what cannot be sent, and goes on', async () => {
  const port = openAnswerPort<string, unknown>(async (name) => (name === 'code' ? () => {} : name), 1)
  onTestFinished(() => port.close())
  const ask = askThroughPort<string, unknown>(port)
  await expect(ask('code')).rejects.toMatchObject({ code: 'TOOL_004' })
  expect(await ask('text')).toBe('text')
})

it('refuses what was asked, and what is asked later, when the port is closed', async () => {
  const port = openAnswerPort<string, string>(() => new Promise(() => {}), 1)
  const ask = askThroughPort<string, string>(port)
  const open = ask('a text')
  port.close()
  await expect(open).rejects.toMatchObject({ code: 'TOOL_004' })
  await expect(ask('another')).rejects.toMatchObject({ code: 'TOOL_004' })
})
