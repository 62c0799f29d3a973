/** First words of function names that are verbs in the imperative; any other first word is read as a noun. */
const verbs = new Set(
  `abort accept acquire activate add adjust advance aggregate allocate allow analyze append apply approve archive
  assemble assert assign attach authenticate authorize await begin bind block broadcast build bump bundle calculate call
  cancel capture cast change check choose clamp clean clear clone close collect combine compare compile complete compose
  compress compute configure confirm connect consume contain convert copy count crawl create decode decompress decorate
  decrement decrypt deduplicate define delete deliver deny deploy derive describe deserialize destroy detach detect
  determine disable discard disconnect discover dispatch display divide download draw drop dump edit emit enable encode
  encrypt end enqueue ensure enter enumerate escape estimate evaluate exclude execute exit expand expect expire explain
  export expose extend extract fail fetch fill filter finalize find finish fire fix flatten flush follow force forget
  format forward free freeze generate get give grant greet group guess handle hash hide highlight hydrate identify ignore
  import include increment index infer inject insert inspect install instantiate interpolate invalidate invert invoke
  iterate join keep kill launch limit link list listen load locate lock log login logout lookup make map mark mask
  match measure merge migrate minimize modify monitor move multiply mutate normalize notify observe obtain open order
  override pack pad parse partition patch pause perform persist pick ping plan play poll pop populate post predict
  prepare prepend preprocess print process produce prompt propagate publish pull purge push put query queue quote raise
  read rebuild receive recompute reconnect record recover redirect reduce refresh register reject release reload remove
  rename render repeat replace reply report request require reset resize resolve respond restart restore resume retrieve
  retry return reverse revert revoke rewrite rotate round route run sample sanitize save scale scan schedule score
  scrape search seed select send serialize serve set shift show shuffle shutdown sign simplify skip slice slugify sort
  spawn split squash stage start step stop store stream strip submit subscribe substitute subtract sum summarize swap
  sync synchronize tag take terminate test tokenize toggle touch track train transfer transform translate traverse
  trigger trim truncate try turn unescape unlink unlock unpack unregister unsubscribe unwrap update upgrade upload
  upsert use validate verify visit wait walk warn watch wrap write yield zip initialize say fold fulfil fulfill ship
  reserve restock issue tell ask rank wipe drain sleep mirror replay`.split(/\s+/),
)

const twoWordVerbs = new Map([
  ['iter', 'iterate over'],
  ['setup', 'set up'],
  ['teardown', 'tear down'],
  ['cleanup', 'clean up'],
  ['lookup', 'look up'],
  ['shutdown', 'shut down'],
  ['login', 'log in'],
  ['logout', 'log out'],
])

/** How the word reads as an imperative, or undefined when it is not known as a verb. */
export function imperativeOf(word: string | undefined): string | undefined {
  if (word === undefined) return undefined
  const isVerb = verbs.has(word) || /^.{3,}(ify|ize|ise)$/.test(word)
  return twoWordVerbs.get(word) ?? (isVerb ? word : undefined)
}
