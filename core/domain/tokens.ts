/** Of English and of code, as tokenizers usually take them, until a server has counted; of other scripts a token has fewer. */
export const charactersPerToken = 4
