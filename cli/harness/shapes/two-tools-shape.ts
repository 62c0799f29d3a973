import { samplePath, sampleSymbol } from './sample-values.ts'
import { defineShape, toolOf } from './shape.ts'

/** Either tool, by chance: the right one is part of what is measured. */
export const twoToolsShape = defineShape({
  name: 'two_tools',
  tools: [
    toolOf('count_lines', 'Count the lines of one file.', {
      path: { type: 'string', description: 'Path of the file.' },
    }),
    toolOf('find_symbol', 'Find where a symbol is defined.', { symbol: { type: 'string', description: 'Its name.' } }),
  ],
  draw: (random) => ({ counts: random.chance(0.5), path: samplePath(random), symbol: sampleSymbol(random) }),
  expect: ({ counts, path, symbol }) =>
    counts ? { tool: 'count_lines', arguments: { path } } : { tool: 'find_symbol', arguments: { symbol } },
  prompts: {
    plain: ({ counts, path, symbol }) =>
      counts ? `Count the lines of "${path}".` : `Find the definition of the symbol "${symbol}".`,
    question: ({ counts, path, symbol }) =>
      counts ? `How many lines does "${path}" have?` : `Where can I find the symbol "${symbol}"?`,
    noisy: ({ counts, path, symbol }) =>
      counts
        ? `Before lunch I would like to see the lines counted in "${path}", if that is not too much trouble.`
        : `Somebody renamed things again, so before lunch: find me the symbol "${symbol}", wherever it lives now.`,
  },
})
