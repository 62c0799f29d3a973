import { mapBounded } from '#objects/map-bounded.ts'
import { measurePeer, peerArguments } from './measure-peer.ts'
import { runPeerAgent } from './peer-agent.ts'
import { openUndiciPost } from './undici-post.ts'

const given = peerArguments()
const post = openUndiciPost(given.url, given.concurrency)
await measurePeer(given, (numbers) => mapBounded(numbers, given.concurrency, (number) => runPeerAgent(number, post)))
