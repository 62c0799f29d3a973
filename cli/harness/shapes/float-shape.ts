import { defineShape, toolOf } from './shape.ts'

export const floatShape = defineShape({
  name: 'float',
  tools: [
    toolOf('set_sample_rate', 'Set the share of requests that are traced.', {
      rate: { type: 'number', minimum: 0, maximum: 1, description: 'The share, from 0 to 1.' },
    }),
  ],
  draw: (random) => random.int(1, 99) / 100,
  expect: (rate) => ({ tool: 'set_sample_rate', arguments: { rate } }),
  prompts: {
    plain: (rate) => `Set the sample rate to ${rate}.`,
    question: (rate) => `Could we have a sample rate of ${rate}, please?`,
    terse: (rate) => `set_sample_rate\nrate: ${rate}`,
  },
})
