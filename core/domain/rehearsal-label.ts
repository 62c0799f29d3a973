/**
 * What the rehearsal model calls itself in its replies, and what the output says wherever it was used, so that nobody
 * takes its texts for a model's.
 */
export const rehearsalLabel = 'rehearsal model (no LLM)'
