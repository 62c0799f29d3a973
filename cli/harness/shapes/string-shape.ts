import { samplePath } from './sample-values.ts'
import { defineShape, toolOf } from './shape.ts'

export const stringShape = defineShape({
  name: 'string',
  tools: [
    toolOf('open_file', 'Open a file of the repository.', {
      path: { type: 'string', description: 'Path of the file, as it was given.' },
    }),
  ],
  draw: samplePath,
  expect: (path) => ({ tool: 'open_file', arguments: { path } }),
  prompts: {
    plain: (path) => `Open the file "${path}".`,
    question: (path) => `Could you open "${path}" for me, please?`,
    terse: (path) => `open_file\npath: ${path}`,
    noisy: (path) =>
      `morning! sorry for the late reply, standup ran long again… anyway: open the file "${path}" pls, and thx :)`,
  },
})
