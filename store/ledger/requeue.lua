-- Further KEYS: op:<O> of each. ARGV: command, origin kind, origin id, (operation, dispatch)… Dispatches again the
-- operations that are still dispatched under the given number. Answers JSON: the jobs to enqueue. The command is stored
-- with each operation, so that the same one sent again gives the same answer.
local refused = refusal()
if refused then return refused end
if is_stopped() then return '[]' end
local at = now()
local taken, events, queued = {}, {}, {}
for i = 1, (#ARGV - 3) / 2 do
  local id, dispatch = ARGV[2 + 2 * i], tonumber(ARGV[3 + 2 * i])
  local op_key = KEYS[own_keys + i]
  local op = redis.call('HMGET', op_key, 'status', 'dispatch', 'requeue')
  if op[1] ~= 'dispatched' then
    redis.call('ZREM', keys.dispatched, id)
  elseif tonumber(op[2]) == dispatch then
    redis.call('HSET', op_key, 'dispatch', dispatch + 1, 'requeue', ARGV[1])
    redis.call('ZADD', keys.dispatched, text(at), id)
    taken[#taken + 1] = { operationId = id, dispatch = dispatch + 1 }
    local data = { dispatch = dispatch + 1, reason = 'job_lost' }
    queued[#queued + 1] = id
    events[#events + 1] = 0
    events[#events + 1] = body_of('operation.queued', { ARGV[2], ARGV[3] }, described(id), data)
  elseif tonumber(op[2]) == dispatch + 1 and op[3] == ARGV[1] then
    taken[#taken + 1] = { operationId = id, dispatch = dispatch + 1 }
  end
end
local last = emit(at, events)
for i, id in ipairs(queued) do follow(id, last - #queued + i) end
if #taken == 0 then return '[]' end
return cjson.encode(taken)
