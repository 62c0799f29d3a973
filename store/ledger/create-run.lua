-- ARGV: schema, project, error policy, request, upload key, traceparent, budget or '',
-- signature or '', event age, event body
if redis.call('EXISTS', keys.run) == 1 then return 'already' end
local at = now()
redis.call('HSET', keys.run, 'schema', ARGV[1], 'project', ARGV[2], 'policy', ARGV[3], 'request', ARGV[4], 'upload', ARGV[5],
  'traceparent', ARGV[6], 'status', 'queued', 'phase', 'snapshot', 'accepted', text(at))
if ARGV[7] ~= '' then redis.call('HSET', keys.run, 'budget', ARGV[7]) end
if ARGV[8] ~= '' then redis.call('HSET', keys.run, 'signature', ARGV[8]) end
emit(at, ARGV, 9)
return 'created'
