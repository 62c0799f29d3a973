-- What every script of a run starts with. KEYS[1..own_keys] are the run's own keys, in the order of keys.ts; a script's
-- further keys follow. All of them share the run's hash tag. The keys of single operations (op:<O>, node:<O>, after:<O>)
-- are derived here, where a step finds out by itself which operations it reaches (decision record 4).
local own_keys = 14
local keys = {
  run = KEYS[1], events = KEYS[2], operations = KEYS[3], ready = KEYS[4], leases = KEYS[5],
  ended = KEYS[6], outbox = KEYS[7], cascade = KEYS[8], commands = KEYS[9],
  delayed = KEYS[10], dispatched = KEYS[11], suspects = KEYS[12], waiting = KEYS[13],
  questions = KEYS[14],
}
local prefix = string.sub(KEYS[1], 1, -4)
local known_schema = 3
local cascade_budget = 200
-- An operation whose worker was lost this often fails: it may be what kills the workers.
local max_lost = 3
local lost_code, cancelled_code, expired_code = 'TOOL_004', 'AGENT_010', 'ASK_003'
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

-- `data` with the place of the operation's node, for people who read along.
local function placed(id, data)
  local node = cjson.decode(redis.call('GET', prefix .. 'node:' .. id))
  data.path = node.path
  data.qualified_name = node.qualifiedName
  return data
end

-- The sets an operation of a status is in one of.
local sets_of = {
  ready = { keys.ready, keys.delayed, keys.suspects }, dispatched = { keys.dispatched }, running = { keys.leases },
  waiting = { keys.waiting },
}

-- Whether this step has changed any operation's status.
local has_changed = false

local function change_status(id, from, to)
  has_changed = true
  for _, set in ipairs(sets_of[from] or {}) do redis.call('ZREM', set, id) end
  redis.call('HSET', prefix .. 'op:' .. id, 'status', to)
  redis.call('HINCRBY', keys.run, 'n:' .. from, -1)
  redis.call('HINCRBY', keys.run, 'n:' .. to, 1)
end

-- What the next loss would fail is set apart, since operations beside the one that kills their worker are lost with it:
-- see dispatch.lua.
local function offer(id)
  local fields = redis.call('HMGET', prefix .. 'op:' .. id, 'rank', 'lost')
  local set = keys.ready
  if tonumber(fields[2] or '0') >= max_lost - 1 then set = keys.suspects end
  redis.call('ZADD', set, fields[1], id)
end

-- Ready to be dispatched: now, or after a rest.
local function make_ready(id, from, at, delay_ms)
  change_status(id, from, 'ready')
  if delay_ms > 0 then
    redis.call('ZADD', keys.delayed, text(at + delay_ms), id)
  else
    offer(id)
  end
end

local function wake_delayed(at)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', keys.delayed, '-inf', text(at), 'LIMIT', 0, cascade_budget)) do
    redis.call('ZREM', keys.delayed, id)
    offer(id)
  end
end

-- From here no operation of the run starts. Who runs one learns it from the message, or from its next heartbeat.
local function stop_run(fields)
  redis.call('HSET', keys.run, 'cancel', '1', unpack(fields))
  local namespace, run = string.match(prefix, '^(.*):{(.*)}:$')
  redis.call('PUBLISH', namespace .. ':stops', run)
end

local function is_stopped()
  local run = redis.call('HMGET', keys.run, 'cancel', 'status')
  return run[1] == '1' or run_has_ended[run[2]] == true
end

-- An outcome that no attempt brought: skipped, cancelled, lost too often, not answered in time. What attempts that asked a
-- person have cost counts.
local function bare_outcome(id, status, code, reason)
  local quoted = cjson.encode(reason)
  local error_code = ''
  if code then error_code = ',"errorCode":' .. cjson.encode(code) end
  local spent = redis.call('HGET', prefix .. 'op:' .. id, 'spent')
    or '{"turns":0,"promptTokens":0,"completionTokens":0,"durationMs":0}'
  return '{"status":"' .. status .. '","summary":' .. quoted .. error_code .. ',"phase":"execution","reason":' .. quoted
    .. ',"changedFiles":[],' .. string.sub(spent, 2)
end

-- The one way an operation ends. Its dependents are told by work_off.
local function end_operation(id, from, at, ending)
  local op = prefix .. 'op:' .. id
  change_status(id, from, ending.status)
  redis.call('HSET', op, 'outcome', ending.outcome, 'ended', text(at))
  -- What nobody answered is all there is to read of its attempts; the others have their own record.
  if from ~= 'waiting' then redis.call('HDEL', op, 'suspension') end
  redis.call('ZADD', keys.ended, text(at), id)
  local seq = text(emit(at, ending.events))
  if ending.result then
    redis.call('XADD', keys.outbox, seq .. '-0', 'o', id, 'r', ending.result)
  else
    redis.call('XADD', keys.outbox, seq .. '-0', 'o', id)
  end
  if redis.call('EXISTS', prefix .. 'after:' .. id) == 1 then redis.call('RPUSH', keys.cascade, id .. ':0') end
  if ending.status ~= 'failed' and ending.status ~= 'blocked' then return end
  local run = redis.call('HMGET', keys.run, 'policy', 'cancel')
  if run[1] == 'stop_run' and run[2] ~= '1' then stop_run({ 'stopped_by', id }) end
end

-- How a question ended is kept beside it, so that the text a person reads is written once. Without that it is open.
local function close_question(request, ending)
  redis.call('HSET', keys.questions, request .. ':end', cjson.encode(ending))
end

-- Ends an operation nobody will work on because its run was stopped.
local function cancel_operation(id, from, at, origin)
  local operation = described(id)
  local data = placed(id, { status = 'cancelled', cause = 'run', error_code = cancelled_code })
  local name = 'operation.skipped'
  if from == 'running' then
    name = 'operation.ended'
    data.attempt = tonumber(redis.call('HGET', prefix .. 'op:' .. id, 'attempt'))
  else
    redis.call('HDEL', prefix .. 'op:' .. id, 'token') -- an attempt that was handed back did not end it
    if from == 'waiting' then
      close_question(redis.call('HGET', prefix .. 'op:' .. id, 'question'), { status = 'cancelled' })
    end
  end
  end_operation(id, from, at, {
    status = 'cancelled',
    outcome = bare_outcome(id, 'cancelled', cancelled_code, 'the run was stopped'),
    events = { 0, body_of(name, origin, operation, data) },
  })
end

-- Takes a running operation back from a worker that is silent ('lost'), or of which it is known that it is gone for
-- reasons of its own ('abandoned', which does not count): ready again, or ended when the run was stopped, or when it was
-- lost too often. Its token goes, so that its holder is told it has lost the operation.
local function lose(id, at, origin, why)
  local op = prefix .. 'op:' .. id
  local attempt = tonumber(redis.call('HGET', op, 'attempt'))
  redis.call('HDEL', op, 'token')
  if is_stopped() then return cancel_operation(id, 'running', at, origin) end
  local lost = 0
  if why == 'lost' then lost = redis.call('HINCRBY', op, 'lost', 1) end
  local operation = described(id)
  if lost < max_lost then
    local data = placed(id, { attempt = attempt, reason = why })
    make_ready(id, 'running', at, 0)
    emit(at, { 0, body_of('operation.retried', origin, operation, data) })
    return
  end
  local reason = 'its worker was lost ' .. lost .. ' times'
  local data = placed(id, { status = 'failed', attempt = attempt, reason = reason, error_code = lost_code })
  end_operation(id, 'running', at, {
    status = 'failed',
    outcome = bare_outcome(id, 'failed', lost_code, reason),
    events = { 0, body_of('operation.failed', origin, operation, data), 0, body_of('operation.ended', origin, operation, data) },
  })
end

local function skip(id, cause, cause_status, at)
  local data = placed(id, { status = 'skipped', cause = cause, cause_status = cause_status })
  end_operation(id, 'pending', at, {
    status = 'skipped',
    outcome = bare_outcome(id, 'skipped', nil, 'it waits for ' .. cause .. ', which ended ' .. cause_status),
    events = { 0, body_of('operation.skipped', { 'discovery', 'ledger' }, described(id), data) },
  })
end

local function tell_dependent(id, cause, cause_status, policy, at)
  local op = prefix .. 'op:' .. id
  local status = redis.call('HGET', op, 'status')
  if policy ~= 'continue' and not well[cause_status] then
    if status == 'pending' then skip(id, cause, cause_status, at) end
    return
  end
  local left = redis.call('HINCRBY', op, 'left', -1)
  if left == 0 and status == 'pending' then make_ready(id, 'pending', at, 0) end
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

-- Works off what is due, then: a whole plan with nothing open is done executing, and one that only answers of people move
-- on waits, until any of its operations changes. The end of a stopped run is told by who ends it, in any phase.
local function go_on(at)
  work_off(at)
  local run = redis.call('HMGET', keys.run, 'status', 'planned', 'phase', 'cancel')
  if run[1] == 'waiting' and has_changed then
    run[1] = 'running'
    redis.call('HSET', keys.run, 'status', run[1])
  end
  if run[4] == '1' or run_has_ended[run[1]] or run[2] ~= '1' or run[3] ~= 'execution' then return end
  local left = counts()
  local is_idle = left.ready + left.dispatched + left.running == 0
  if not is_idle or redis.call('LLEN', keys.cascade) > 0 then return end
  if left.open == 0 then
    redis.call('HSET', keys.run, 'phase', 'review')
  elseif run[1] == 'running' and left.waiting > 0 then
    redis.call('HSET', keys.run, 'status', 'waiting')
    emit(at, { 0, body_of('run.waiting', { 'discovery', 'ledger' }, {}, { questions = left.waiting }) })
  end
end
