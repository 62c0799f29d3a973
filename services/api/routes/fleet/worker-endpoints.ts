import { QueuePage, WorkerPage } from '#schemas/worker-schema.ts'
import { endpoint, jsonAnswer } from '../../http/endpoint.ts'

export const workerEndpoints = {
  list: endpoint('operator', [], {
    method: 'get',
    path: '/v1/workers',
    operationId: 'listWorkers',
    summary: 'The workers that live, by id',
    description:
      'Only for the token that the service was started with. A worker that fell silent is listed for 15 seconds.',
    responses: { 200: jsonAnswer('all of them', WorkerPage) },
  }),
  queues: endpoint('operator', [], {
    method: 'get',
    path: '/v1/queues',
    operationId: 'listQueues',
    summary: 'How many jobs each queue has',
    description: 'Only for the token that the service was started with.',
    responses: { 200: jsonAnswer('all queues', QueuePage) },
  }),
} as const
