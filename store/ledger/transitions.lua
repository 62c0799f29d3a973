-- The third part: the transitions of an operation, and their consequences for the run.

-- The most operations that one step changes besides its own: dependents, those whose delay is over, those taken back.
local max_per_step = 200
-- An operation whose worker was lost this often fails: it may be what kills the workers.
local max_lost = 3
local lost_code, cancelled_code, expired_code, budget_code = 'TOOL_004', 'AGENT_010', 'ASK_003', 'LIMIT_004'
local ended_well = { succeeded = true, unchanged = true }
local has_ended = { succeeded = true, unchanged = true, skipped = true, failed = true, blocked = true, cancelled = true }
local ledger_origin = { 'discovery', 'ledger' }

-- An operation of one of these statuses is in exactly one of its sets.
local sets_of = {
  ready = { keys.ready, keys.delayed, keys.suspects, keys.held }, dispatched = { keys.dispatched }, running = { keys.leases },
  waiting = { keys.waiting },
}

-- Whether this step has changed any operation's status.
local has_changed = false

-- What an attempt has said is kept, unless it is in a record: then it was deleted before.
local function keep_talk(id)
  local op, talk = prefix .. 'op:' .. id, prefix .. 'talk:' .. id
  if redis.call('EXISTS', talk) == 0 then return end
  local fields = redis.call('HMGET', op, 'attempt', 'past')
  redis.call('RENAME', talk, talk .. ':' .. fields[1])
  redis.call('SADD', keys.past, id .. ':' .. fields[1])
  redis.call('HSET', op, 'past', fields[2] and fields[2] .. ' ' .. fields[1] or fields[1])
end

-- Further arguments are fields of the operation that are set as well, name and value in turn.
local function change_status(id, from, to, ...)
  has_changed = true
  if from == 'running' then keep_talk(id) end
  local was_noted = (from == 'running' or from == 'waiting') and redis.call('HDEL', keys.doing, id) == 1
  if from == 'waiting' and was_noted then redis.call('HINCRBY', keys.run, 'deferred', -1) end
  -- What is dispatched may have a reservation already (dispatch.lua).
  if (from == 'running' or from == 'dispatched') and to ~= 'running' then reserve(prefix .. 'op:' .. id, 0) end
  for _, set in ipairs(sets_of[from] or {}) do redis.call('ZREM', set, id) end
  redis.call('HSET', prefix .. 'op:' .. id, 'status', to, ...)
  redis.call('HINCRBY', keys.run, 'n:' .. from, -1)
  redis.call('HINCRBY', keys.run, 'n:' .. to, 1)
end

-- An operation whose next loss would be its last is kept in a set of its own and runs alone: operations that run at the
-- same time as the one that kills their worker are lost with it (dispatch.lua).
local function offer(id)
  local fields = redis.call('HMGET', prefix .. 'op:' .. id, 'rank', 'lost')
  local set = keys.ready
  if tonumber(fields[2] or '0') >= max_lost - 1 then set = keys.suspects end
  redis.call('ZADD', set, fields[1], id)
end

-- Ready to be dispatched: now, or after a delay.
local function make_ready(id, from, at, delay_ms)
  change_status(id, from, 'ready')
  if delay_ms > 0 then
    redis.call('ZADD', keys.delayed, text(at + delay_ms), id)
  else
    offer(id)
  end
end

local function wake_delayed(at)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', keys.delayed, '-inf', text(at), 'LIMIT', 0, max_per_step)) do
    redis.call('ZREM', keys.delayed, id)
    offer(id)
  end
end

-- The bundles whose model is away, as the run's field `away` lists them: a set, or nil without any. Read once per step.
local away_bundles
local function bundles_away()
  if away_bundles == nil then
    away_bundles = false
    for _, one in ipairs(cjson.decode(redis.call('HGET', keys.run, 'away') or '[]')) do
      away_bundles = away_bundles or {}
      for _, bundle in ipairs(one.bundles) do away_bundles[bundle] = true end
    end
  end
  return away_bundles or nil
end

-- Whether the operation needs a model that is away; mechanical work needs none.
local function lacks_model(id)
  local away = bundles_away()
  if not away then return false end
  local op = redis.call('HMGET', prefix .. 'op:' .. id, 'bundle', 'work')
  return op[2] ~= 'mechanical' and away[op[1]] == true
end

-- The budgets that keep the run's agents from going on: its own, and that of its project for today.
local budget_fields = { run = 'over_run', project = 'over_project' }

local function over_of(of)
  local over = redis.call('HGET', keys.run, budget_fields[of])
  return over and cjson.decode(over) or nil
end

-- For what the conductor waits, nil for nothing.
local function conductor_wait()
  local wait = redis.call('HGET', keys.run, 'conductor_waits')
  return wait and cjson.decode(wait) or nil
end

-- Says of the budgets that are used up that they are, once an operation is held for them or the conductor waits for one: what has only
-- mechanical work left, or none, is not kept from anything. Until then they are `untold`.
local function tell_over(at, origin)
  local wait = conductor_wait()
  if redis.call('ZCARD', keys.held) == 0 and not (wait and wait.kind == 'budget') then return end
  for _, of in ipairs({ 'run', 'project' }) do
    local wait = over_of(of)
    if wait and wait.untold then
      wait.untold = nil
      redis.call('HSET', keys.run, budget_fields[of], cjson.encode(wait))
      wait.of = of
      redis.call('HSET', keys.run, 'reached_' .. of, text(emit(at, { 0, body_of('budget.reached', origin, {}, wait) })))
    end
  end
end

-- Notes that a budget is used up, or with `wait` nil that it is not any more. Then what was held for it becomes ready again.
local function note_over(of, wait, at, origin)
  local before = over_of(of)
  if wait then
    wait.since = before and before.since or at
    if not before or before.untold then wait.untold = true end
    redis.call('HSET', keys.run, budget_fields[of], cjson.encode(wait))
    return tell_over(at, origin)
  end
  if not before then return end
  redis.call('HDEL', keys.run, budget_fields[of])
  if before.untold then return end
  local other = over_of(of == 'run' and 'project' or 'run')
  if not other or other.untold then
    has_changed = true -- a run that was waiting is looked at again
    if redis.call('ZCARD', keys.held) > 0 then redis.call('HSET', keys.run, 'wake', '-inf') end
  end
  local cause = redis.call('HGET', keys.run, 'reached_' .. of)
  emit(at, { 0, body_of('budget.renewed', origin, { cause = cause }, { of = of, since = before.since }) })
end

-- Notes whether the run has used up its own budget, or has too little left for what is `lacking`.
local function note_own_budget(at, origin)
  local run, used = redis.call('HMGET', keys.run, 'budget', 'lacking'), used_tokens()
  local limit, needs = tonumber(run[1] or ''), tonumber(run[2] or '')
  local is_over = limit and limit - used < (needs or 1)
  note_over('run', is_over and { limit = limit, used = used, needs = needs } or nil, at, origin)
end

-- Whether a budget keeps the run's agents from going on. Read once per step.
local over_budget
local function is_over_budget()
  if over_budget == nil then
    local over = redis.call('HMGET', keys.run, 'over_run', 'over_project')
    over_budget = (over[1] or over[2]) and true or false
  end
  return over_budget
end

-- Whether the operation may not be dispatched now: its model is away, or a budget is used up. Mechanical work needs neither.
local function has_to_wait(id)
  if not is_over_budget() then return lacks_model(id) end
  return redis.call('HGET', prefix .. 'op:' .. id, 'work') ~= 'mechanical'
end

-- Puts aside a ready operation whose model is away, or for which there is no budget. Its status stays, and its place among the ready
-- ones too.
local function hold(id)
  redis.call('ZREM', keys.ready, id)
  redis.call('ZREM', keys.suspects, id)
  redis.call('ZADD', keys.held, redis.call('HGET', prefix .. 'op:' .. id, 'rank'), id)
end

-- Once a model is back, or there is budget again, all that are held become candidates again, in slices: `wake` is the rank to go
-- on from. Those that still have to wait are held again when it is their turn.
local function wake_held()
  local from = redis.call('HGET', keys.run, 'wake')
  if not from then return end
  local found = redis.call('ZRANGEBYSCORE', keys.held, from, '+inf', 'WITHSCORES', 'LIMIT', 0, max_per_step)
  for i = 1, #found, 2 do
    redis.call('ZREM', keys.held, found[i])
    offer(found[i])
  end
  if #found < 2 * max_per_step then
    redis.call('HDEL', keys.run, 'wake')
  else
    redis.call('HSET', keys.run, 'wake', '(' .. found[#found])
  end
end

-- From here on no operation of the run starts. The workers that run one learn it from this message, or from the answer
-- to their next heartbeat.
local function stop_run(fields)
  redis.call('HSET', keys.run, 'cancel', '1', unpack(fields))
  redis.call('PUBLISH', namespace .. ':stops', run_id)
end

-- The outcome of an operation that no attempt ended: skipped, cancelled, lost too often, not answered in time. It
-- counts what the attempts that asked a person have cost.
local function bare_outcome(id, status, code, reason)
  local spent = redis.call('HGET', prefix .. 'op:' .. id, 'spent')
  local outcome = spent and cjson.decode(spent) or { turns = 0, promptTokens = 0, completionTokens = 0, durationMs = 0 }
  outcome.status, outcome.phase, outcome.errorCode = status, 'execution', code
  outcome.summary, outcome.reason, outcome.changedFiles, outcome.leavesWork = reason, reason, {}, true
  -- cjson writes an empty table as an object. The quotes keep this from matching inside a text, where they are escaped.
  return (string.gsub(cjson.encode(outcome), '"changedFiles":{}', '"changedFiles":[]'))
end

-- Tells the conductor of the run, whose next step hears it. `seq`: the number of the event that the message tells of, which what is decided
-- then follows from.
local function tell_conductor(message, seq)
  if seq then message = '{"seq":' .. text(seq) .. ',' .. string.sub(message, 2) end
  redis.call('RPUSH', keys.inbox, message)
  redis.call('HINCRBY', keys.run, 'messages', 1)
  local wait = conductor_wait()
  if wait and wait.kind == 'models' then return end -- it is asked again soon in any case, and since when it is away stays known
  redis.call('HDEL', keys.run, 'conductor_waits')
  has_changed = true -- a run that was waiting is looked at again
end

-- What is kept of an item since it was dispatched last, besides what was estimated of it before. `round`: the version of the agenda that has dispatched it.
-- `first`: where its operations begin in the plan, in which they follow each other.
local item_fields = {
  'round', 'gen', 'first', 'slices', 'plan', 'started', 'planned', 'operations', 'open', 'succeeded', 'unchanged', 'skipped', 'failed', 'blocked',
  'cancelled', 'change_sets', 'replaced', 'findings', 'tokens', 'left', 'faults', 'reads', 'fault', 'budget', 'used', 'reserved', 'objective',
}
local item_ends = { 'succeeded', 'unchanged', 'skipped', 'failed', 'blocked', 'cancelled' }

local function item_field(item, what)
  return redis.call('HGET', keys.items, item .. ':' .. what)
end

-- Whether the item is the next one to plan, for this version of the agenda.
local function is_planning(item, version)
  local planning = cjson.decode(redis.call('HGET', keys.run, 'planning') or '[]')[1]
  return planning ~= nil and planning.item_id == item and planning.version == tonumber(version)
end

-- The next item is planned now.
local function end_planning()
  local planning = cjson.decode(redis.call('HGET', keys.run, 'planning'))
  table.remove(planning, 1)
  if #planning > 0 then
    redis.call('HSET', keys.run, 'planning', cjson.encode(planning))
  else
    redis.call('HDEL', keys.run, 'planning')
  end
end

-- When the seconds of items that have not ended are over, by item, with how many of their operations were looked at since.
local function deadlines()
  return cjson.decode(redis.call('HGET', keys.run, 'deadlines') or '{}')
end

local function set_deadline(item, deadline)
  local kept = deadlines()
  if not deadline and not kept[item] then return end
  kept[item] = deadline
  redis.call('HSET', keys.run, 'deadlines', cjson.encode(kept))
end

-- Ends an item that is planned as a whole with the last of its operations, or at once where it has none.
local function end_item(item, at)
  if item_field(item, 'planned') ~= '1' or tonumber(item_field(item, 'open') or '0') > 0 then return end
  set_deadline(item, nil)
  local data = { item_id = item, counts = {} }
  for _, status in ipairs(item_ends) do data.counts[status] = tonumber(item_field(item, status) or '0') end
  for _, what in ipairs({ 'operations', 'change_sets', 'findings', 'tokens', 'left' }) do
    data[what] = tonumber(item_field(item, what) or '0')
  end
  data.faults = cjson.decode(item_field(item, 'faults') or '{}')
  local seq = emit(at, { 0, body_of('item.ended', ledger_origin, { cause = item_field(item, 'started') or nil }, data) })
  tell_conductor(cjson.encode({ kind = 'item_ended', item_id = item }), seq)
end

-- Counts an operation that has ended for its item. The outcome's texts escape their quotes, so that these cannot match there.
local function count_for_item(item, ending, at)
  local add = function(what, number)
    if number > 0 then redis.call('HINCRBY', keys.items, item .. ':' .. what, text(number)) end
  end
  add(ending.status, 1)
  add('change_sets', ending.change_sets or 0)
  for _, name in ipairs({ 'promptTokens', 'completionTokens' }) do
    add('tokens', tonumber(string.match(ending.outcome, '"' .. name .. '":(%d+)') or '0'))
  end
  add('findings', tonumber(string.match(ending.outcome, '"findings":(%d+)') or '0'))
  if string.find(ending.outcome, '"leavesWork":true', 1, true) then add('left', 1) end
  local code = not ended_well[ending.status] and ending.status ~= 'cancelled' and string.match(ending.outcome, '"errorCode":"([%u%d_]+)"')
  if code then
    local faults = cjson.decode(item_field(item, 'faults') or '{}')
    faults[code] = (faults[code] or 0) + 1
    redis.call('HSET', keys.items, item .. ':faults', cjson.encode(faults))
  end
  redis.call('HINCRBY', keys.items, item .. ':open', -1)
  end_item(item, at)
end

-- The one way an operation ends. notify_dependents goes on with those that wait for it.
local function end_operation(id, from, at, ending)
  local op = prefix .. 'op:' .. id
  change_status(id, from, ending.status, 'outcome', ending.outcome, 'ended', text(at))
  -- An operation that ends while it waits has no other record of its attempts than this one.
  if from ~= 'waiting' then redis.call('HDEL', op, 'suspension') end
  redis.call('ZADD', keys.ended, text(at), id)
  local seq = text(emit(at, ending.events, ending.first_event, ending.cause))
  follow(id, seq)
  redis.call('XADD', keys.outbox, seq .. '-0', 'o', id, unpack(ending.result and { 'r', ending.result } or {}))
  if redis.call('EXISTS', prefix .. 'after:' .. id) == 1 then redis.call('RPUSH', keys.cascade, id .. ':0') end
  local item = redis.call('HGET', op, 'item')
  spend_of(item)
  if item then count_for_item(item, ending, at) end
  if ending.status ~= 'failed' and ending.status ~= 'blocked' then return end
  redis.call('ZADD', keys[ending.status], redis.call('ZSCORE', keys.operations, id), id)
  -- Not by cjson, which refuses half a surrogate pair. Inside a text the quotes are escaped, so this cannot match there.
  local code = string.match(ending.outcome, '"errorCode":"([^"]*)"') or ''
  redis.call('HINCRBY', keys.failures, code, 1)
  redis.call('HSETNX', keys.failures, code .. ':first', id)
  local run = redis.call('HMGET', keys.run, 'policy', 'cancel')
  if run[1] ~= 'stop_run' or run[2] == '1' then return end
  -- What an operation repeats because it collided is there already: its failure costs the run nothing.
  local repeats = redis.call('HGET', op, 'repeats') or ''
  if not string.find(repeats, '"because":"collided"', 1, true) then stop_run({ 'stopped_by', id }) end
end

-- How a question ended has a field of its own, so that the question's text is written once. An open question has none, and what waits
-- for a tool no question.
local function close_question(request, ending)
  if request == 'tool' then return end
  redis.call('HSET', keys.questions, request .. ':end', cjson.encode(ending))
end

-- The run's own questions, which no operation waits for, as long as they are open: `q3 q5 `.
local function own_questions()
  return redis.call('HGET', keys.run, 'own_questions') or ''
end

-- They end with the run.
local function expire_own_questions()
  for request in string.gmatch(own_questions(), 'q%d+') do close_question(request, { status = 'expired' }) end
  redis.call('HDEL', keys.run, 'own_questions')
end

-- Answers an open question, with which its operation is ready again. `shown`: the answer as events have it.
local function answer_question(request, id, ending, shown, origin)
  close_question(request, ending)
  make_ready(id, 'waiting', ending.at, 0)
  local person = { string.match(ending.by, '^(.-)/(.*)$') }
  local answer = { request_id = request, answer = shown, verdict = ending.verdict, by = ending.by }
  report(id, 'human_input.answered', person, answer, ending.at)
  report(id, 'operation.resumed', origin, with_node(id, { request_id = request }), ending.at)
end

-- The field of the questions that says who has allowed the tool of the call for the run. One of the same bundle has the same.
local function gate_of(question)
  return 'allowed:' .. redis.call('HGET', prefix .. 'op:' .. question.operationId, 'hash') .. ':' .. question.call.tool
end

-- Answers a question about a call of a tool that is allowed for the run by now.
local function answer_allowed(request, question, at, origin)
  local by = question.call and redis.call('HGET', keys.questions, gate_of(question))
  if not by then return end
  local ending = { status = 'answered', text = '', verdict = 'allow_for_run', at = at, by = by, command = '' }
  answer_question(request, question.operationId, ending, '', origin)
end

-- Once a tool is allowed for the run, all open questions are looked at again, in slices: `allowing` is the number to go on from.
local function wake_allowed(at, origin)
  local run = redis.call('HMGET', keys.run, 'allowing', 'asked')
  local first, asked = tonumber(run[1] or ''), tonumber(run[2] or '0')
  if not first then return end
  local last = math.min(first + max_per_step - 1, asked)
  for number = first, last do
    local request = 'q' .. text(number)
    local stored = redis.call('HMGET', keys.questions, request, request .. ':end')
    local question = not stored[2] and cjson.decode(stored[1])
    local expires = question and question.call and redis.call('ZSCORE', keys.waiting, question.operationId)
    if expires and tonumber(expires) > at then answer_allowed(request, question, at, origin) end
  end
  if last < asked then
    redis.call('HSET', keys.run, 'allowing', text(last + 1))
  else
    redis.call('HDEL', keys.run, 'allowing')
  end
end

-- Ends an operation that nobody will run because its run was stopped.
local function cancel_operation(id, from, at, origin)
  local operation = described(id)
  local data = with_node(id, { status = 'cancelled', cause = 'run', error_code = cancelled_code })
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

-- Ends an operation as failed or blocked which no attempt has ended, for the reason and with the code of `data`.
local function end_unsettled(id, from, at, origin, data)
  local operation = described(id)
  with_node(id, data)
  redis.call('HDEL', prefix .. 'op:' .. id, 'token') -- the last attempt did not end it
  end_operation(id, from, at, {
    status = data.status,
    outcome = bare_outcome(id, data.status, data.error_code, data.reason),
    events = { 0, body_of('operation.' .. data.status, origin, operation, data), 0, body_of('operation.ended', origin, operation, data) },
  })
end

-- Makes an operation ready again that waits for a tool: `again` says that its next attempt runs the tool once more.
local function end_tool_wait(id, at, origin, again)
  make_ready(id, 'waiting', at, 0)
  report(id, 'operation.resumed', origin, with_node(id, { reason = 'tool', again = again or nil }), at)
end

-- Takes an operation back that runs, or whose tool does: from a worker that is silent ('lost'), or from one that is known to have ended for
-- reasons of its own ('abandoned', which does not count as a loss). It becomes ready again, or ends when the run was
-- stopped or when it was lost too often. Without its token, the worker's next write is refused.
local function take_back(id, from, at, origin, why)
  local op = prefix .. 'op:' .. id
  local attempt = tonumber(redis.call('HGET', op, 'attempt'))
  redis.call('HDEL', op, 'token')
  if is_stopped() then return cancel_operation(id, from, at, origin) end
  local lost = 0
  if why == 'lost' then lost = redis.call('HINCRBY', op, 'lost', 1) end
  if lost < max_lost then
    if from == 'waiting' then return end_tool_wait(id, at, origin, true) end
    make_ready(id, from, at, 0)
    report(id, 'operation.retried', origin, with_node(id, { attempt = attempt, reason = why }), at)
    return
  end
  local reason = 'its worker was lost ' .. lost .. ' times'
  end_unsettled(id, from, at, origin, { status = 'failed', attempt = attempt, reason = reason, error_code = lost_code })
end

-- `cause_seq`: the number of the event with which the cause has ended.
local function skip(id, cause, cause_status, cause_seq, at)
  follow(id, cause_seq)
  local data = with_node(id, { status = 'skipped', cause = cause, cause_status = cause_status })
  end_operation(id, 'pending', at, {
    status = 'skipped',
    outcome = bare_outcome(id, 'skipped', nil, 'it waits for ' .. cause .. ', which ended ' .. cause_status),
    events = { 0, body_of('operation.skipped', ledger_origin, described(id), data) },
  })
end

-- Skips an operation whose item has used up its seconds.
local function skip_late(id, from, at, origin)
  redis.call('HDEL', prefix .. 'op:' .. id, 'token') -- an attempt that was handed back did not end it
  local data = with_node(id, { status = 'skipped', cause = 'item', error_code = budget_code })
  end_operation(id, from, at, {
    status = 'skipped',
    outcome = bare_outcome(id, 'skipped', budget_code, 'the seconds of its item were over'),
    events = { 0, body_of('operation.skipped', origin, described(id), data) },
  })
end

-- `entry`: the operation that waits; with a ? after it, it starts also when the cause has not ended well. `ended`: status and last event
-- of the cause.
local function notify_dependent(entry, cause, ended, policy, at)
  local id, any = string.match(entry, '^(%w+)(%??)$')
  local op = prefix .. 'op:' .. id
  local status = redis.call('HGET', op, 'status')
  if policy ~= 'continue' and any == '' and not ended_well[ended[1]] then
    if status == 'pending' then skip(id, cause, ended[1], ended[2], at) end
    return
  end
  local left = redis.call('HINCRBY', op, 'left', -1)
  if left ~= 0 or status ~= 'pending' then return end
  follow(id, ended[2])
  make_ready(id, 'pending', at, 0)
end

-- Goes through the dependents of ended operations, in the order in which these ended, max_per_step of them at most. The
-- rest stays in the cascade.
local function notify_dependents(at)
  local budget, policy = max_per_step, nil
  while budget > 0 do
    local entry = redis.call('LINDEX', keys.cascade, 0)
    if not entry then return end
    policy = policy or redis.call('HGET', keys.run, 'policy')
    local cause, offset = string.match(entry, '^(%w+):(%d+)$')
    offset = tonumber(offset)
    local after = prefix .. 'after:' .. cause
    local dependents = redis.call('LRANGE', after, offset, offset + budget - 1)
    local ended = redis.call('HMGET', prefix .. 'op:' .. cause, 'status', 'cause')
    for _, dependent in ipairs(dependents) do notify_dependent(dependent, cause, ended, policy, at) end
    offset = offset + #dependents
    local was_last = #dependents < budget or offset >= redis.call('LLEN', after)
    budget = budget - #dependents
    if was_last then
      redis.call('LPOP', keys.cascade)
    else
      redis.call('LSET', keys.cascade, 0, cause .. ':' .. text(offset))
    end
  end
end

-- How many operations have each of the statuses that are not an end, and all of these together as `open`.
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

-- What keeps a run from moving on by itself, for its event.
local function waited_for(questions)
  local list = cjson.decode(redis.call('HGET', keys.run, 'away') or '[]')
  for i, one in ipairs(list) do list[i] = { kind = 'models', model = one.model, since = one.since } end
  if questions > 0 then list[#list + 1] = { kind = 'answer', questions = questions } end
  for _, of in ipairs({ 'run', 'project' }) do
    local wait = over_of(of)
    if wait and not wait.untold then
      wait.kind, wait.of = 'budget', of
      list[#list + 1] = wait
    end
  end
  return list
end

-- Notifies dependents, then moves the run on. A whole plan with nothing open goes to review, unless a conductor decides what comes
-- next. A run that only answers of people, models that are away or a budget can move on is waiting until the status of one of its
-- operations changes, a model is back, or there is budget again. end-slice.lua ends a stopped run, in any phase.
local function advance_run(at)
  notify_dependents(at)
  local run = redis.call('HMGET', keys.run, 'status', 'planned', 'phase', 'cancel', 'conductor', 'planning', 'deferred')
  if run[1] == 'waiting' and has_changed then
    run[1] = 'running'
    redis.call('HSET', keys.run, 'status', run[1])
  end
  if run[4] == '1' or run_has_ended[run[1]] or run[2] ~= '1' or run[3] ~= 'execution' then return end
  local left = counts()
  if left.dispatched + left.running + tonumber(run[7] or '0') > 0 or redis.call('LLEN', keys.cascade) > 0 then return end
  if left.open == 0 then
    local wait = conductor_wait()
    if run[5] ~= 'open' then
      redis.call('HSET', keys.run, 'phase', 'review')
    elseif run[1] == 'running' and wait and not run[6] then
      -- One that waits for tokens is moved on by what says of a budget that it is not used up any more.
      local list = wait.kind == 'budget' and waited_for(0) or { wait }
      if #list == 0 then return end
      redis.call('HSET', keys.run, 'status', 'waiting')
      emit(at, { 0, body_of('run.waiting', ledger_origin, {}, { questions = 0, waiting_for = list }) })
    end
    return
  end
  local held = 0
  if left.ready > 0 then
    held = redis.call('ZCARD', keys.held)
    if left.ready > held or redis.call('HEXISTS', keys.run, 'wake') == 1 then return end
  end
  if run[1] == 'running' and left.waiting + held > 0 then
    redis.call('HSET', keys.run, 'status', 'waiting')
    local data = { questions = left.waiting, waiting_for = waited_for(left.waiting) }
    emit(at, { 0, body_of('run.waiting', ledger_origin, {}, data) })
  end
end
