import { sampleLabels } from './sample-values.ts'
import { defineShape, toolOf } from './shape.ts'

export const listShape = defineShape({
  name: 'list',
  tools: [
    toolOf('add_labels', 'Add labels to the open issue.', {
      labels: { type: 'array', items: { type: 'string' }, description: 'The labels, in the order they were named.' },
    }),
  ],
  draw: sampleLabels,
  expect: (labels) => ({ tool: 'add_labels', arguments: { labels } }),
  prompts: {
    plain: (labels) => `Add these labels to the issue: ${inWords(labels)}.`,
    question: (labels) => `Can this issue have the labels ${inWords(labels)}?`,
    terse: (labels) => `add_labels\nlabels: ${labels.join(', ')}`,
  },
})

function inWords(labels: readonly string[]): string {
  const quoted = labels.map((label) => `"${label}"`)
  return `${quoted.slice(0, -1).join(', ')} and ${quoted.at(-1)}`
}
