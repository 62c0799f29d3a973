import { defineShape, toolOf } from './shape.ts'

export const integerShape = defineShape({
  name: 'integer',
  tools: [
    toolOf('set_timeout', 'Set how long a request may take.', {
      seconds: { type: 'integer', minimum: 1, description: 'The timeout in seconds.' },
    }),
  ],
  draw: (random) => random.int(2, 900),
  expect: (seconds) => ({ tool: 'set_timeout', arguments: { seconds } }),
  prompts: {
    plain: (seconds) => `Set the timeout to ${seconds} seconds.`,
    question: (seconds) => `Can you make the timeout ${seconds} seconds?`,
    terse: (seconds) => `set_timeout\nseconds: ${seconds}`,
  },
})
