/** An address comes from a code host: one that is not of the web is shown, and not followed. */
export function OutsideLink({ url, words }: { url: string; words: string }) {
  if (!/^https?:\/\//.test(url)) return <span>{words}</span>
  return (
    <a href={url} target="_blank" rel="noreferrer">
      {words}
    </a>
  )
}
