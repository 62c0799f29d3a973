import { charactersPerToken } from '#domain/tokens.ts'

/** How many tokens a character has for one model: a guess, until its server has counted a request. */
export type TokenRate = {
  likely(): number
  /** No request has fewer. */
  least(): number
  counted(tokens: number, characters: number): void
}

const guessed = 1 / charactersPerToken
/** No tokenizer makes fewer of code and prose; blanks alone may be fewer. */
const leastGuessed = 1 / 8
/** A server that counts less or more than this per character counts something else, such as what it had not cached. */
const plausible = { least: 1 / 16, most: 2 }

export function openTokenRate(): TokenRate {
  let rate: number | undefined
  return {
    likely: () => rate ?? guessed,
    least: () => rate ?? leastGuessed,
    counted(tokens, characters) {
      const share = tokens / characters
      if (share >= plausible.least && share <= plausible.most) rate = share
    },
  }
}
