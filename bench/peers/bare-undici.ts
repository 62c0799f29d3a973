import { measureLoop } from './measure-peer.ts'
import { runPeerAgent } from './peer-agent.ts'
import { openUndiciPost } from './undici-post.ts'

await measureLoop(({ url, concurrency }) => {
  const post = openUndiciPost(url, concurrency)
  return (number) => runPeerAgent(number, post)
})
