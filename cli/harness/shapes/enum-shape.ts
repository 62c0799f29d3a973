import { defineShape, toolOf } from './shape.ts'

const levels = ['debug', 'info', 'warning', 'error'] as const

export const enumShape = defineShape({
  name: 'enum',
  tools: [
    toolOf('set_log_level', 'Set from which level on messages are logged.', {
      level: { type: 'string', enum: levels, description: 'The lowest level that is logged.' },
    }),
  ],
  draw: (random) => random.pick(levels),
  expect: (level) => ({ tool: 'set_log_level', arguments: { level } }),
  prompts: {
    plain: (level) => `Set the log level to ${level}.`,
    question: (level) => `Could you log from ${level} on?`,
    noisy: (level) => `The console is unreadable today, as everybody keeps saying. Log level ${level.toUpperCase()}!!`,
  },
})
