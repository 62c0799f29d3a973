/** A replacement in UTF-16 units of a text, end-exclusive. */
export type TextEdit = { start: number; end: number; text: string }
