import { describe, expect, it } from 'vitest'
import { emptyWording } from './empty-wording.ts'

const of = (content: string) =>
  emptyWording(content, { name: 'total_price', signature: 'def total_price(items: list[Item], rate=0.2) -> float' })

describe('a docstring that only repeats its signature', () => {
  it.each([
    ['Return the result of `total_price`.'],
    ['The value of total_price.'],
    ['`total_price` carries out the step total price.'],
    ['Get the total prices of the items.'],
    ['Return whether it is the total price.\n\n:returns: The result.\n:raises Price: Raised in the body.'],
    ['Handle `total_price`.\n\nArgs:\n    items (list[Item]): The value of items.\n\nReturns:\n    float: The result.'],
  ])('says nothing: %j', (content) => {
    expect(of(content)).toBe('it says nothing that its name and signature do not say')
  })

  it.each([
    ['google', 'Args:\n    items (list[Item]): What is sold.\n    rate: TEXT Defaults to 0.2.'],
    ['numpy', 'Parameters\n----------\nitems : list\n    What is sold.\nrate : float\n    TEXT'],
    ['sphinx', ':param items: What is sold.\n:param float rate: TEXT\n:returns: The result.'],
    ['JSDoc', '@param {Item[]} items - What is sold.\n@param rate - TEXT\n@returns The result.'],
    ['Rust', '# Arguments\n\n* `items` - What is sold.\n* `rate` - TEXT'],
  ])('says nothing of a parameter, in the style of %s', (_style, section) => {
    const text = `Add up what a customer pays.\n\n${section}`
    expect(of(text.replace('TEXT', 'The value of rate.'))).toMatch(/^the text of rate says nothing/)
    expect(of(text.replace('TEXT', 'The share of tax.'))).toBeUndefined()
  })

  it.each([
    ['Add up what a customer pays.'],
    ['Return the price with tax.'],
    ['items == rate'],
    ['Return the result.\n\nReturns:\n    The sum in cents.'],
  ])('says something: %j', (content) => {
    expect(of(content)).toBeUndefined()
  })
})
