const maxDoubleStars = 3

/**
 * The text of a `.gitignore` without rules of more than three `**`: what matching one costs grows with that power of a
 * path's depth, and a repository is not to be trusted with the time of whoever looks into it.
 */
export function affordableRules(text: string): string {
  return text
    .split('\n')
    .filter((rule) => rule.split('**').length - 1 <= maxDoubleStars)
    .join('\n')
}
