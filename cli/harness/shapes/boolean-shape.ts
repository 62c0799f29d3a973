import { defineShape, toolOf } from './shape.ts'

const word = (enabled: boolean) => (enabled ? 'on' : 'off')

export const booleanShape = defineShape({
  name: 'boolean',
  tools: [
    toolOf('set_verbose', 'Turn verbose output on or off.', {
      enabled: { type: 'boolean', description: 'true: on. false: off.' },
    }),
  ],
  draw: (random) => random.chance(0.5),
  expect: (enabled) => ({ tool: 'set_verbose', arguments: { enabled } }),
  prompts: {
    plain: (enabled) => `Turn verbose output ${word(enabled)}.`,
    question: (enabled) => `Would you switch verbose output ${word(enabled)}, please?`,
    terse: (enabled) => `set_verbose\nenabled: ${enabled}`,
  },
})
