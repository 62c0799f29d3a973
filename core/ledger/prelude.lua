-- What every script of a run starts with. KEYS[1..9] are the run's own keys, in the order of keys.ts; a script's further
-- keys follow. All of them share the run's hash tag. The keys of dependents (op:<O>, after:<O>) are the one thing derived
-- here instead of declared: which operations a settle reaches is known only inside the step.
local keys = {
  run = KEYS[1], events = KEYS[2], operations = KEYS[3], ready = KEYS[4], leases = KEYS[5],
  ended = KEYS[6], outbox = KEYS[7], cascade = KEYS[8], commands = KEYS[9],
}
local prefix = string.sub(KEYS[1], 1, -4)
local known_schema = 1
local cascade_budget = 200
local well = { succeeded = true, unchanged = true }
local has_ended = { succeeded = true, unchanged = true, skipped = true, failed = true, blocked = true, cancelled = true }
local run_has_ended = { completed = true, blocked = true, failed = true, cancelled = true }

local function text(number)
  return string.format('%.0f', number)
end

-- Milliseconds since the epoch, by this server's clock.
local function now()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

-- 'unknown' or 'newer' when this code must not touch the run, else nil.
local function refusal()
  local schema = redis.call('HGET', keys.run, 'schema')
  if not schema then return 'unknown' end
  if tonumber(schema) > known_schema then return 'newer' end
  return nil
end

-- Appends events, a flat list of age in ms and body, and returns the last one's number.
local function emit(at, events)
  local count = #events / 2
  local last = redis.call('HINCRBY', keys.run, 'seq', count)
  for i = 1, count do
    redis.call('XADD', keys.events, text(last - count + i) .. '-0', 'm', text(at - tonumber(events[2 * i - 1])), 'j', events[2 * i])
  end
  return last
end

-- The body of an event the ledger itself reports, in the short names of event-codec.ts.
local function body_of(name, origin, operation, data)
  local status = nil
  if data.error_code then status = 'error' end
  return cjson.encode({
    e = name, p = 'execution', s = status, k = origin[1], i = origin[2], x = data.error_code,
    o = operation.id, n = operation.node, a = operation.bundle, j = data,
  })
end

local function described(id)
  local fields = redis.call('HMGET', prefix .. 'op:' .. id, 'nid', 'bundle')
  return { id = id, node = fields[1], bundle = fields[2] }
end

local function change_status(id, from, to)
  redis.call('HSET', prefix .. 'op:' .. id, 'status', to)
  redis.call('HINCRBY', keys.run, 'n:' .. from, -1)
  redis.call('HINCRBY', keys.run, 'n:' .. to, 1)
end

-- An outcome nobody worked for: skipped, cancelled before its start, lost too often.
local function bare_outcome(status, code, reason)
  local quoted = cjson.encode(reason)
  local error_code = ''
  if code then error_code = ',"errorCode":' .. cjson.encode(code) end
  return '{"status":"' .. status .. '","summary":' .. quoted .. error_code .. ',"phase":"execution","reason":' .. quoted
    .. ',"changedFiles":[],"turns":0,"promptTokens":0,"completionTokens":0,"durationMs":0}'
end

-- The one way an operation ends. Its dependents are told by work_off.
local function end_operation(id, from, at, ending)
  local op = prefix .. 'op:' .. id
  change_status(id, from, ending.status)
  redis.call('HSET', op, 'outcome', ending.outcome, 'ended', text(at))
  redis.call('ZREM', keys.leases, id)
  redis.call('ZREM', keys.ready, id)
  redis.call('ZADD', keys.ended, text(at), id)
  local seq = text(emit(at, ending.events))
  if ending.result then
    redis.call('XADD', keys.outbox, seq .. '-0', 'o', id, 'r', ending.result)
  else
    redis.call('XADD', keys.outbox, seq .. '-0', 'o', id)
  end
  if redis.call('EXISTS', prefix .. 'after:' .. id) == 1 then redis.call('RPUSH', keys.cascade, id .. ':0') end
end

local function skip(id, cause, cause_status, at)
  local data = { status = 'skipped', cause = cause, cause_status = cause_status }
  end_operation(id, 'pending', at, {
    status = 'skipped',
    outcome = bare_outcome('skipped', nil, 'it waits for ' .. cause .. ', which ended ' .. cause_status),
    events = { 0, body_of('operation.skipped', { 'discovery', 'ledger' }, described(id), data) },
  })
end

local function tell_dependent(id, cause, cause_status, policy, at)
  local op = prefix .. 'op:' .. id
  local status = redis.call('HGET', op, 'status')
  if policy == 'skip_downstream' and not well[cause_status] then
    if status == 'pending' then skip(id, cause, cause_status, at) end
    return
  end
  local left = redis.call('HINCRBY', op, 'left', -1)
  if left == 0 and status == 'pending' then
    change_status(id, 'pending', 'ready')
    redis.call('ZADD', keys.ready, redis.call('HGET', op, 'rank'), id)
  end
end

-- Tells dependents of ended operations, in the order these ended, at most cascade_budget per step; the rest stays listed.
local function work_off(at)
  local budget = cascade_budget
  local policy = redis.call('HGET', keys.run, 'policy')
  while budget > 0 do
    local entry = redis.call('LINDEX', keys.cascade, 0)
    if not entry then return end
    local cause, offset = string.match(entry, '^(%w+):(%d+)$')
    offset = tonumber(offset)
    local after = prefix .. 'after:' .. cause
    local dependents = redis.call('LRANGE', after, offset, offset + budget - 1)
    local cause_status = redis.call('HGET', prefix .. 'op:' .. cause, 'status')
    for _, dependent in ipairs(dependents) do tell_dependent(dependent, cause, cause_status, policy, at) end
    budget = budget - #dependents
    offset = offset + #dependents
    if offset >= redis.call('LLEN', after) then
      redis.call('LPOP', keys.cascade)
    else
      redis.call('LSET', keys.cascade, 0, cause .. ':' .. text(offset))
    end
  end
end

local function counts()
  local names = { 'n:pending', 'n:ready', 'n:dispatched', 'n:running', 'n:waiting' }
  local found = redis.call('HMGET', keys.run, unpack(names))
  local answer = { open = 0 }
  for i, name in ipairs(names) do
    local count = tonumber(found[i] or '0')
    answer[string.sub(name, 3)] = count
    answer.open = answer.open + count
  end
  return answer
end

-- Works off what is due, then: a whole plan with nothing open is done executing.
local function go_on(at)
  work_off(at)
  local run = redis.call('HMGET', keys.run, 'planned', 'phase')
  if run[1] == '1' and run[2] == 'execution' and counts().open == 0 and redis.call('LLEN', keys.cascade) == 0 then
    redis.call('HSET', keys.run, 'phase', 'review')
  end
end
