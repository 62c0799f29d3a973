-- Further KEYS: op:<O>. ARGV: operation, token, the attempt's counter, why, origin kind, origin id, (event age, event body)…
-- The token stays until the next claim: its holder learns that the release it sends again was applied.
local op = redis.call('HMGET', KEYS[10], 'status', 'token', 'attempt', 'rank', 'nid', 'bundle')
if op[2] ~= ARGV[2] then return 'lost' end
if op[1] ~= 'running' then return 'already' end

local id, attempt = ARGV[1], tonumber(op[3])
local events = {}
for i = 7, #ARGV do events[#events + 1] = ARGV[i] end
local operation = { id = id, node = op[5], bundle = op[6] }
events[#events + 1] = 0
events[#events + 1] =
  body_of('operation.retried', { ARGV[5], ARGV[6] }, operation, { attempt = attempt, reason = ARGV[4] })
redis.call('HSET', KEYS[10], 'n', ARGV[3])
change_status(id, 'running', 'ready')
redis.call('ZREM', keys.leases, id)
redis.call('ZADD', keys.ready, op[4], id)
emit(now(), events)
return 'released'
