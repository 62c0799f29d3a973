-- Further KEYS: op:<O> of each candidate. ARGV: command, origin kind, origin id, then the candidates' ids, first to run first.
-- Answers JSON. The last command's answer is kept, so that the same command sent again takes nothing more.
local refused = refusal()
if refused then return refused end
local kept = redis.call('HMGET', keys.run, 'dispatch_command', 'dispatch_answer')
if kept[1] == ARGV[1] then return kept[2] end

local at = now()
go_on(at)
local run = redis.call('HMGET', keys.run, 'status', 'phase', 'cancel', 'traceparent')
local open = (run[1] == 'running' or run[1] == 'waiting') and run[2] == 'execution' and run[3] ~= '1'
local taken, events = {}, {}
for i = 4, #ARGV do
  local id, op = ARGV[i], KEYS[6 + i]
  if open and redis.call('ZREM', keys.ready, id) == 1 then
    local dispatch = redis.call('HINCRBY', op, 'dispatch', 1)
    change_status(id, 'ready', 'dispatched')
    taken[#taken + 1] = { operationId = id, dispatch = dispatch }
    events[#events + 1] = 0
    events[#events + 1] = body_of('operation.queued', { ARGV[2], ARGV[3] }, described(id), { dispatch = dispatch })
  end
end
emit(at, events)
local answer = counts()
answer.traceparent = run[4] or ''
-- An empty Lua table would be written as an object.
if #taken > 0 then answer.taken = taken end
answer = cjson.encode(answer)
redis.call('HSET', keys.run, 'dispatch_command', ARGV[1], 'dispatch_answer', answer)
return answer
