-- Further KEYS: op:<O> of each candidate. ARGV: command, origin kind, origin id, how many to take, the window, then the
-- candidates' ids, in the order in which they run. Answers JSON. The last command's answer is stored, so that the same
-- command sent again takes nothing more. An operation whose next loss is its last runs alone in its run, after all that
-- are ready: when its worker is lost again, the operation was the reason. One whose model is away, or for which a budget is
-- used up, is held instead, which takes no room of the window. One whose next request does not fit beside what is reserved stays
-- ready, or ends as blocked where it is its item that has too little left; one whose item has no seconds left is skipped. What is taken has
-- its reservation from here on: as much as it was refused, else as requests of the run ask for in the mean.
local refused = refusal()
if refused then return refused end
local kept = redis.call('HMGET', keys.run, 'dispatch_command', 'dispatch_answer', 'suspect')
if kept[1] == ARGV[1] then return kept[2] end

local at = now()
advance_run(at)
wake_delayed(at)
wake_held()
local run = redis.call('HMGET', keys.run, 'status', 'phase', 'cancel', 'traceparent', 'cause', 'bound', 'reserved')
local open = (run[1] == 'running' or run[1] == 'waiting') and run[2] == 'execution' and run[3] ~= '1'
if open then note_own_budget(at, { ARGV[2], ARGV[3] }) end
local before = counts()
local under_way = before.dispatched + before.running
-- How many are under way when the window is full, or as many taken as were asked for.
local full = math.min(tonumber(ARGV[5]), under_way + tonumber(ARGV[4]))
local suspect_status = kept[3] and redis.call('HGET', prefix .. 'op:' .. kept[3], 'status')
local alone = suspect_status == 'dispatched' or suspect_status == 'running'

local has_held = false

-- The tokens that are left to reserve, nil without a budget; the least that an operation was not taken for. What is under way and has
-- nothing reserved, between two requests, will need as much as others do.
local free, lacking = room(), nil
if free then free = free - math.max(0, under_way * tonumber(run[6] or '0') - tonumber(run[7] or '0')) end

-- Those whose item has too little left, whatever is given back, or no seconds: they can never go.
local exhausted, deadlines_of = {}, deadlines()

local function is_late(id)
  local deadline = deadlines_of[redis.call('HGET', prefix .. 'op:' .. id, 'item') or '']
  return deadline and deadline.at <= at
end

local function make_room(id)
  local op = redis.call('HMGET', prefix .. 'op:' .. id, 'work', 'needs', 'item')
  local of_item, item_reserved
  if op[3] then of_item, item_reserved = room_of(op[3]) end
  if op[1] == 'mechanical' or not (free or of_item) then return true end
  local needs = tonumber(op[2] or run[6] or '0')
  if of_item and of_item < math.max(needs, 1) then
    if item_reserved == 0 and #exhausted < max_per_step then exhausted[#exhausted + 1] = id end
    return false
  end
  if free and free < math.max(needs, 1) then
    lacking = math.min(lacking or math.huge, math.max(needs, 1))
    return false
  end
  free = free and free - needs
  reserve(prefix .. 'op:' .. id, needs)
  redis.call('HDEL', keys.run, 'lacking')
  return true
end

local function may_take(id)
  if alone then return false end
  local is_there = redis.call('ZSCORE', keys.ready, id) or redis.call('ZSCORE', keys.suspects, id)
  if is_there and is_late(id) then
    if #exhausted < max_per_step then exhausted[#exhausted + 1] = id end
    return false
  end
  if has_to_wait(id) then
    if is_there then
      hold(id)
      has_held = true
    end
    return false
  end
  if under_way >= full then return false end
  if redis.call('ZSCORE', keys.ready, id) then return make_room(id) end
  if under_way > 0 or not redis.call('ZSCORE', keys.suspects, id) or not make_room(id) then return false end
  redis.call('HSET', keys.run, 'suspect', id)
  alone = true
  return true
end

local taken, events = {}, {}
for i = 6, #ARGV do
  local id = ARGV[i]
  if open and may_take(id) then
    local dispatch = redis.call('HINCRBY', KEYS[own_keys + i - 5], 'dispatch', 1)
    change_status(id, 'ready', 'dispatched')
    redis.call('ZADD', keys.dispatched, text(at), id)
    under_way = under_way + 1
    taken[#taken + 1] = { operationId = id, dispatch = dispatch }
    local operation = described(id)
    operation.cause = operation.cause or run[5]
    events[#events + 1] = 0
    events[#events + 1] = body_of('operation.queued', { ARGV[2], ARGV[3] }, operation, { dispatch = dispatch })
  end
end
local last = emit(at, events)
for i, one in ipairs(taken) do follow(one.operationId, last - #taken + i) end
-- Nobody holds anything that could still be given back: a budget has too little left.
if lacking and under_way == 0 then
  redis.call('HSET', keys.run, 'lacking', text(lacking))
  note_own_budget(at, { ARGV[2], ARGV[3] })
end
for _, id in ipairs(exhausted) do
  local data = { status = 'blocked', reason = 'the budget of its item has too little left', error_code = budget_code }
  -- An operation that ends here may stop its run.
  if not is_stopped() then (is_late(id) and skip_late or end_unsettled)(id, 'ready', at, { ARGV[2], ARGV[3] }, data) end
end
if #exhausted > 0 then advance_run(at) end
if has_held then
  tell_over(at, { ARGV[2], ARGV[3] })
  advance_run(at)
end
local answer = counts()
answer.traceparent = run[4] or ''
-- An empty Lua table would be written as an object.
if #taken > 0 then answer.taken = taken end
answer = cjson.encode(answer)
redis.call('HSET', keys.run, 'dispatch_command', ARGV[1], 'dispatch_answer', answer)
return answer
