import { Queue, Worker } from 'bullmq'
import { measurePeer, peerArguments } from './measure-peer.ts'
import { runPeerAgent } from './peer-agent.ts'
import { openUndiciPost } from './undici-post.ts'

const given = peerArguments()
const post = openUndiciPost(given.url, given.concurrency)
const connection = { url: given.redisUrl, maxRetriesPerRequest: null }
const queueName = `bench-${process.pid}`
const queue = new Queue<number>(queueName, {
  connection,
  defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
})
const worker = new Worker<number>(queueName, ({ data }) => runPeerAgent(data, post), {
  connection,
  concurrency: given.concurrency,
})
const jobsPerBulk = 500

/** The figures include adding the jobs and everything BullMQ does in this process, but not Redis. */
async function runJobs(numbers: readonly number[]): Promise<void> {
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>()
  let left = numbers.length
  const onCompleted = () => {
    left -= 1
    if (left === 0) resolve()
  }
  worker.on('completed', onCompleted)
  worker.on('failed', (_job, error) => reject(error))
  for (let first = 0; first < numbers.length; first += jobsPerBulk) {
    const slice = numbers.slice(first, first + jobsPerBulk)
    await queue.addBulk(slice.map((number) => ({ name: 'agent', data: number })))
  }
  await ended
  worker.off('completed', onCompleted)
}

await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()])
await measurePeer(given, runJobs)
