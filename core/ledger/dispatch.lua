-- Further KEYS: op:<O> of each candidate. ARGV: command, origin kind, origin id, how many, then the candidates' ids, first
-- to run first. Answers JSON. The last command's answer is kept, so that the same command sent again takes nothing more.
-- Of the operations whose next loss is their last, one is under way at a time: when its worker is lost again, it and none
-- of the others was the reason.
local refused = refusal()
if refused then return refused end
local kept = redis.call('HMGET', keys.run, 'dispatch_command', 'dispatch_answer', 'suspect')
if kept[1] == ARGV[1] then return kept[2] end

local function suspect_is_under_way()
  if not kept[3] then return false end
  local status = redis.call('HGET', prefix .. 'op:' .. kept[3], 'status')
  return status == 'dispatched' or status == 'running'
end

local function may_take(id)
  if redis.call('ZSCORE', keys.ready, id) then return true end
  if not redis.call('ZSCORE', keys.suspects, id) or suspect_is_under_way() then return false end
  kept[3] = id
  redis.call('HSET', keys.run, 'suspect', id)
  return true
end

local at = now()
go_on(at)
wake_delayed(at)
local run = redis.call('HMGET', keys.run, 'status', 'phase', 'cancel', 'traceparent')
local open = (run[1] == 'running' or run[1] == 'waiting') and run[2] == 'execution' and run[3] ~= '1'
local taken, events = {}, {}
for i = 5, #ARGV do
  local id = ARGV[i]
  if open and #taken < tonumber(ARGV[4]) and may_take(id) then
    local dispatch = redis.call('HINCRBY', KEYS[own_keys + i - 4], 'dispatch', 1)
    change_status(id, 'ready', 'dispatched')
    redis.call('ZADD', keys.dispatched, text(at), id)
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
