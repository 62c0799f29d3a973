import { submitToolName } from '#bundles/submit-tool.ts'
import { defineShape, toolOf } from './shape.ts'

const animals = ['a duck', 'two cats', 'an old horse', 'a hedgehog', 'seven bees'] as const
const dishes = ['pancakes', 'lentil soup', 'rice pudding', 'dumplings', 'apple pie'] as const

/** No tool fits: the right answer is to submit with status skipped. */
export const irrelevantShape = defineShape({
  name: 'irrelevant',
  tools: [
    toolOf('restart_server', 'Restart one of our servers.', {
      name: { type: 'string', description: "The server's name." },
    }),
  ],
  draw: (random) => ({ animal: random.pick(animals), dish: random.pick(dishes) }),
  expect: () => ({ tool: submitToolName, arguments: { status: 'skipped' } }),
  prompts: {
    plain: ({ animal }) => `Write a poem of four lines about ${animal}.`,
    question: ({ dish }) => `How long do ${dish} have to cook?`,
    noisy: ({ animal, dish }) => `lol my brother says he once saw ${animal} eat ${dish}. can that be true??`,
  },
})
